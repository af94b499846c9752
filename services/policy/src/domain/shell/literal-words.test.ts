import { describe, expect, it } from "vitest";
import { literalWords } from "./literal-words.ts";
import { shellWord } from "./shell-word.ts";

const textsOf = (command: string): string[][] | undefined => literalWords(command)?.map(({ words }) => words.map(({ text }) => text));

describe("literalWords", () => {
  it("reads words of plain and quoted pieces, joined by the four operators", () => {
    expect(textsOf(`ls -la|grep 'a $b' && echo "c d" --x="e f"/g;pwd || git log HEAD~2 @{u} stash@{0} a'b'`)).toEqual([
      ["ls", "-la"],
      ["grep", "a $b"],
      ["echo", "c d", "--x=e f/g"],
      ["pwd"],
      ["git", "log", "HEAD~2", "@{u}", "stash@{0}", "ab"],
    ]);
    expect(textsOf(String.raw`a "\n \. \" \$ \\ x$" \( \*`)).toEqual([["a", String.raw`\n \. " $ \ x$`, "(", "*"]]);
    expect(textsOf("[ -f x ]")).toEqual([["[", "-f", "x", "]"]]);
  });

  it("says which words expand, and to what", () => {
    const wordsOf = (command: string) => literalWords(command)?.[0]?.words.slice(1);
    expect(wordsOf("ls *.ts a[!b]c ?")).toEqual(["*.ts", "a[!b]c", "?"].map((text) => shellWord(text, "glob")));
    expect(wordsOf('echo "$x" "a ${y}" $z "$x"$z "$x"*')).toEqual([
      shellWord("$x", "variable"),
      shellWord("a ${y}", "variable"),
      shellWord("$z", "split"),
      shellWord("$x$z", "split"),
      shellWord("$x*", "glob"),
    ]);
    expect(wordsOf(String.raw`echo "\$x" '$x' "\\$x" \*`)).toEqual([
      shellWord("$x"),
      shellWord("$x"),
      shellWord("\\$x", "variable"),
      shellWord("*"),
    ]);
  });

  it("reads redirections apart from the words", () => {
    expect(literalWords("a <b c 2>&1 >> 'd e' | f >/dev/null")).toEqual([
      {
        words: [shellWord("a"), shellWord("c")],
        redirections: [
          { operator: "<", target: "b" },
          { operator: ">&", descriptor: 2, target: "1" },
          { operator: ">>", target: "d e" },
        ],
      },
      { words: [shellWord("f")], redirections: [{ operator: ">", target: "/dev/null" }] },
    ]);
  });

  it("has no reading for what a shell would put together in ways of its own, without asking the parsers", () => {
    const expanding = [
      "ls {a,b}",
      "ls a{1..3}",
      "ls ~",
      "ls x=~/a",
      'echo "`x`"',
      "echo \\a",
      'echo "!x"',
      "echo $1",
      "echo ${x}",
      "echo $(x)",
    ];
    const joining = [
      "a & b",
      "a |& b",
      "a\nb",
      "(a)",
      "a;;b",
      "a;",
      "| a",
      "a # b",
      "! a",
      "a <<b",
      "a <(b)",
      "a >",
      "< a",
      "a &>b",
      "a 12>b",
    ];
    const quoting = ["'l's'", "echo 'a", `echo "a`, "$'a'", '$"a"', "echo 'a\tb'", "é", "a]", "[a", "a[", "a[b/c]"];
    expect([...expanding, ...joining, ...quoting, ""].filter((command) => literalWords(command) !== undefined)).toEqual([]);
  });
});
