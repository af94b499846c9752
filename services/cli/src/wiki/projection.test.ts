import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { guarded, projectFiles } from "./projection.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hlvm-projection-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const file = (path: string): string => join(folder, path);
const pages = (...names: string[]) => new Map(names.map((name) => [`wiki/${name}.md`, guarded(`# ${name}\n`, `page ${name}`)]));
const reasonOf = (work: () => unknown): string => {
  try {
    work();
  } catch (thrown) {
    return (thrown as { reason: string }).reason;
  }
  return "nothing was refused";
};

describe("a projection", () => {
  it("writes what is new, leaves what is the same, and takes away what is gone", () => {
    expect(projectFiles(folder, pages("a", "b/c"), false).map(({ change }) => change)).toEqual(["written", "written"]);
    expect(statSync(file("wiki/b/c.md")).mode & 0o777).toBe(0o444);
    const changed = new Map(pages("a")).set("wiki/d.md", guarded("# d", "page d"));
    expect(projectFiles(folder, changed, false)).toEqual([
      { path: "wiki/a.md", change: "unchanged" },
      { path: "wiki/d.md", change: "written" },
      { path: "wiki/b/c.md", change: "removed" },
    ]);
    expect(existsSync(file("wiki/b/c.md"))).toBe(false);
  });

  it("says what it would do and does nothing where it is a trial", () => {
    expect(projectFiles(folder, pages("a"), true)).toEqual([{ path: "wiki/a.md", change: "written" }]);
    expect(existsSync(file("wiki"))).toBe(false);
  });

  it.each([
    ["changed", (text: string) => text.replace("# a", "# A")],
    ["added to", (text: string) => `${text}more\n`],
    ["given another head", (text: string) => `more\n${text}`],
    ["told to come from elsewhere", (text: string) => text.replace("page a", "page b")],
    ["made empty", () => ""],
  ])("writes nothing at all where one of its files was %s", (_how, change) => {
    projectFiles(folder, pages("a", "b"), false);
    chmodSync(file("wiki/a.md"), 0o644);
    const text = change(readFileSync(file("wiki/a.md"), "utf8"));
    writeFileSync(file("wiki/a.md"), text);
    expect(reasonOf(() => projectFiles(folder, pages("a", "z-new"), false))).toMatch(/^projection_/);
    expect(existsSync(file("wiki/z-new.md"))).toBe(false);
    expect(readFileSync(file("wiki/a.md"), "utf8")).toBe(text);
  });

  it("does not take away what was changed, though its page is gone", () => {
    projectFiles(folder, pages("a", "b"), false);
    chmodSync(file("wiki/a.md"), 0o644);
    writeFileSync(file("wiki/a.md"), readFileSync(file("wiki/a.md"), "utf8").replace("# a", "# A"));
    expect(reasonOf(() => projectFiles(folder, pages("b"), false))).toBe("projection_changed");
    expect(existsSync(file("wiki/a.md"))).toBe(true);
  });

  it("does not touch what somebody else wrote", () => {
    mkdirSync(file("wiki"));
    writeFileSync(file("wiki/mine.md"), "mine");
    writeFileSync(file("MEMORY.md"), "mine, too");
    projectFiles(folder, pages("a"), false);
    expect(readFileSync(file("wiki/mine.md"), "utf8")).toBe("mine");
    expect(reasonOf(() => projectFiles(folder, new Map([["MEMORY.md", guarded("x", "y")]]), false))).toBe("projection_not_ours");
  });

  it("follows no link that a repository laid out", () => {
    const outside = mkdtempSync(join(tmpdir(), "hlvm-outside-"));
    writeFileSync(join(outside, "a.md"), "theirs");
    symlinkSync(outside, file("wiki"));
    expect(reasonOf(() => projectFiles(folder, pages("a"), false))).toBe("change_not_allowed");
    rmSync(file("wiki"));
    mkdirSync(file("wiki"));
    symlinkSync(join(outside, "a.md"), file("wiki/a.md"));
    expect(reasonOf(() => projectFiles(folder, pages("a"), false))).toBe("projection_not_ours");
    rmSync(file("wiki/a.md"));
    symlinkSync(outside, file("wiki/deep"));
    expect(reasonOf(() => projectFiles(folder, pages("deep/a"), false))).toBe("change_not_allowed");
    expect(readFileSync(join(outside, "a.md"), "utf8")).toBe("theirs");
    rmSync(outside, { recursive: true });
  });
});
