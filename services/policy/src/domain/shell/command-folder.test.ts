import { describe, expect, it } from "vitest";
import { useCommandJudge } from "../../testing/use-command-judge.ts";

const { judge, notAt } = useCommandJudge();

describe("what an agent reads with", () => {
  it("is L2 where it goes out of the workspace or to what other programs obey", () => {
    expect(
      notAt("L2", [
        "mkdir /etc/x",
        "cp a ../b",
        "touch .git/hooks/pre-commit",
        "cp a .GitHub/workflows/x.yml",
        "mv x .vscode/tasks.json",
        "tee ~/.bashrc",
      ]),
    ).toEqual([]);
    expect(notAt("L2", ["cp -t /etc a b", "cp -s a b", "chmod u+s a", "mv a sub/../../b", "git add ../x", "tee .envrc"])).toEqual([]);
  });

  it("is L2 where it changes files after it went to a folder out of the workspace or that other programs obey", () => {
    expect(
      notAt("L2", [
        "cd .git/hooks && printf x | tee pre-commit && chmod +x pre-commit",
        "cd / && touch x",
        "cd .. && touch x",
        "cd a; cd ../../b; mkdir x",
        "cd a/.GITHUB/workflows | tee ci.yml",
        "cd - && touch x",
        "cd '' && touch x",
        "cd -- /etc && touch x",
        "git -C .git/hooks add x",
        "git -C /etc add -A",
        "git -C a -C ../.. add -A",
      ]),
    ).toEqual([]);
    expect(notAt("L1", ["cd src && mkdir x", "cd ./a/b; touch c; cd d && rmdir e", "git -C . add b"])).toEqual([]);
    expect(notAt("L0", ["cd .git/hooks && ls", "cd / && cat etc/hostname"])).toEqual([]);
  });

  it("is L2 where it starts in such a folder and changes files", () => {
    const at = (folder: string, command: string): string => judge(command, folder).level;
    const wrong = [".git/hooks", "/", "/etc", "..", "a/../..", "a/.VSCODE", "~", ""];
    expect(wrong.map((folder) => at(folder, "printf x | tee pre-commit"))).toEqual(wrong.map(() => "L2"));
    expect(wrong.map((folder) => at(folder, "cat pre-commit"))).toEqual(wrong.map(() => "L0"));
    expect(["src", "./a/b/", "."].map((folder) => at(folder, "cd c && touch x"))).toEqual(["L1", "L1", "L1"]);
    expect(at("src", "cd .git && touch x")).toBe("L2");
  });

  it("says in which other folder, so that an answer for the session is not taken for another one", () => {
    const { scope } = judge("npm test");
    expect(judge("npm test", ".").scope).toEqual(scope);
    expect(judge("npm test", "a").scope).not.toEqual(scope);
    expect(judge("npm test", "a").scope).not.toEqual(judge("npm test", "b").scope);
    expect(judge("npm test -- --watch=false", "a").scope).toEqual(judge("npm test", "a").scope);
  });
});
