import { describe, expect, it } from "vitest";
import { useCommandJudge } from "../../testing/use-command-judge.ts";

const { judge, notAt } = useCommandJudge();

describe("attacks on the classification", () => {
  it("2: a backslash within a word", () => expect(notAt("L2", ["find . -ex\\ec id \\;", "l\\s", "git log --out\\put=x"])).toEqual([]));
  it("3: braces, brackets and other quoting", () => {
    expect(
      notAt("L2", ["find . -d{elete,}", "find . -e[x]ec id", "find . $'-exec' id", "find . -e'xec' id", 'find . -"exec" id', "find . -d*"]),
    ).toEqual([]);
  });
  it("4: a line continuation", () =>
    expect(notAt("L2", ["git log --out\\\nput=/x", "git log --out\\\r\nput=/x", "git log --output=/x", "git log --output /x"])).toEqual(
      [],
    ));
  it("5: control bytes are denied", () => {
    for (const byte of ["\r", "\0", "\x1b[2K", "\x07", "\x7f", "\x85"]) {
      const judged = judge(`ls${byte}x`);
      expect(judged).toMatchObject({ level: "L2", danger: { decision: "deny", rule: "hidden character" } });
    }
  });
  it("8: substitutions and here-documents", () => {
    expect(
      notAt("L2", [
        "echo $(id)",
        "echo `id`",
        "cat <(id)",
        "cat <<E\n$(id)\nE",
        'echo "${x@P}"',
        "echo $((a[$(id)]))",
        'echo "$(id)"',
        "ls $HOME",
      ]),
    ).toEqual([]);
    expect(judge('echo "$(rm -rf /)"').danger).toMatchObject({ decision: "deny" });
    expect(judge("echo `sudo rm -rf ~`").danger).toMatchObject({ decision: "deny" });
  });
  it("9: IFS, export, declare, assignments", () => {
    expect(notAt("L2", ["rm$IFS-rf$IFS/", "export X=1", "declare x", "PAGER=x git branch", "readonly x", "unset PATH", "X=1"])).toEqual([]);
    expect(judge("rm$IFS-rf${IFS}/").danger).toMatchObject({ decision: "deny" });
  });
  it("18: characters that cannot be seen or told apart are denied", () => {
    for (const hidden of ["\u00a0", "\u200b", "\u200d", "\u202e", "\u2066", "\ufeff", "\u2028", "\u{e0041}"])
      expect(judge(`cat a${hidden}b`)).toMatchObject({ level: "L2", danger: { decision: "deny", rule: "hidden character" } });
    expect(judge("git commit -m 'größer ✓'").danger).toBeUndefined();
  });
});
