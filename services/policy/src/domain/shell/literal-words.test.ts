import { describe, expect, it } from "vitest";
import { literalWords } from "./literal-words.ts";

describe("literalWords", () => {
  it("reads plain and wholly quoted words, joined by the four operators", () => {
    expect(literalWords(`ls -la|grep 'a $b' && echo "c d" --x="e f";pwd || git log HEAD~2`)).toEqual([
      ["ls", "-la"],
      ["grep", "a $b"],
      ["echo", "c d", "--x=e f"],
      ["pwd"],
      ["git", "log", "HEAD~2"],
    ]);
  });

  it("has no reading for what a shell would expand, redirect or put together, on its own and without the parsers", () => {
    const expanding = [
      "echo *",
      "ls a?",
      "ls [ab]",
      "ls {a,b}",
      "ls ~",
      "ls x=~/a",
      "echo $x",
      'echo "$x"',
      'echo "`x`"',
      'echo "a\\b"',
      "echo \\a",
      'echo "!x"',
    ];
    const joining = ["a & b", "a |& b", "a >b", "a <b", "a\nb", "(a)", "a;;b", "a;", "| a", "a # b", "! a"];
    const quoting = ["l's'", "'l's", "a'b'", "-e'x'", "echo 'a", `echo "a`, "echo ''x", "$'a'", "--a='b'c", "echo 'a\tb'", "é"];
    expect([...expanding, ...joining, ...quoting, ""].filter((command) => literalWords(command) !== undefined)).toEqual([]);
  });
});
