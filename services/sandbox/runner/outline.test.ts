import { describe, expect, it } from "vitest";
import { outlineOf } from "./outline.ts";

describe("outlineOf", () => {
  it("gives the headings of Markdown, but not what looks like one inside a code block", () => {
    const text = "# Title\n\ntext\n```sh\n# a comment\n```\n## Part\n#hashtag\n";
    expect(outlineOf("README.md", text.split("\n"))).toEqual(["1: # Title", "7: ## Part"]);
  });

  it.each([
    [
      "a.ts",
      "import x from 'y';\nexport class Thing {\n  method() {}\n}\nexport async function go() {}\nconst f = (a) => a;\nconst n = 1;",
      [2, 5, 6],
    ],
    ["a.py", "import os\nclass A:\n    def b(self):\n        pass\nasync def c():\n    pass", [2, 3, 5]],
    ["a.go", "package main\nfunc main() {\n}\ntype T struct {\n}", [2, 4]],
    ["a.rs", "use x;\npub(crate) fn go() {\n}\nimpl T {\n    pub fn new() {}\n}", [2, 4, 5]],
    ["a.c", "#include <x.h>\nint main(int a)\n{\n  return 0;\n}\nstruct s {", [2, 6]],
    ["A.java", "package a;\npublic class A {\n    private int x = 1;\n    public void go() {\n    }\n}", [2, 4]],
    ["a.html", "<html>\n<head>\n<p>x</p>\n<section class='a b'>\n</section>", [2, 4]],
    ["a.css", ".a {\n  color: red;\n}\n@media print {\n", [1, 4]],
    ["a.txt", "class A {\n}", []],
  ])("finds the declarations of %s", (path, text, lines) => {
    expect(outlineOf(path, text.split("\n")).map((entry) => Number(entry.split(":")[0]))).toEqual(lines);
  });

  it("is bounded", () => {
    const lines = Array.from({ length: 1_000 }, (_, index) => `# ${"x".repeat(500)} ${index}`);
    const outline = outlineOf("long.md", lines);
    expect(outline).toHaveLength(201);
    expect(outline.at(-1)).toBe("[… 800 more]");
    expect(Math.max(...outline.map((entry) => entry.length))).toBeLessThan(140);
  });
});
