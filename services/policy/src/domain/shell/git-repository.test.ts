import { describe, expect, it } from "vitest";
import { useCommandJudge } from "../../testing/use-command-judge.ts";

const { judge, notAt } = useCommandJudge();

describe("git", () => {
  it("is L2 in another repository than the workspace's own, however it gets there", () => {
    expect(notAt("L2", ["git -C vendor/x status", "git -C .. log", "git -C a -C .. log", "git -C ./a status", "git -C '' status"])).toEqual(
      [],
    );
    expect(notAt("L2", ["git --git-dir=x status", "git --git-dir x log", "git --work-tree=x diff", "git --namespace=x log"])).toEqual([]);
    expect(notAt("L2", ["git --exec-path=x status", "git -c a.b=c log", "git --config-env=a=b log", "git --bare log"])).toEqual([]);
    expect(notAt("L2", ["cd vendor/x && git status", "cd vendor/x; timeout 5 git log", "cd x | git log", "cd - && git log"])).toEqual([]);
    expect(judge("git status", "vendor/x").level).toBe("L2");
    expect(
      notAt("L0", ["git -C . status", "git -C ./ log", "cd . && git log", "cd /workspace && git status", "cd src && grep git x"]),
    ).toEqual([]);
  });

  it("takes revisions with braces and carets for what they are", () => {
    expect(
      notAt("L0", ["git log @{u}..HEAD", "git diff HEAD@{1}", "git show HEAD^", "git show HEAD^^:a.ts", "git log main..feature"]),
    ).toEqual([]);
    expect(notAt("L0", ["git stash show -p stash@{0}", "git diff main...HEAD", "git rev-parse --abbrev-ref HEAD@{upstream}"])).toEqual([]);
    expect(notAt("L2", ["git log {a,b}", "git log a{1..3}", "git log a{b,{c}}", "git log ${a}", "git log HEAD@{1,2}"])).toEqual([]);
  });

  it("reads with whatever neither writes nor starts what a configuration names", () => {
    expect(
      notAt("L0", ["git reflog", "git reflog show HEAD", "git stash list", "git worktree list", "git symbolic-ref --short HEAD"]),
    ).toEqual([]);
    expect(
      notAt("L0", ["git config --list", "git config --global --get user.name", "git config --list --show-origin", "git log -M -C"]),
    ).toEqual([]);
    expect(notAt("L0", ["git log -p -- 'src/*.ts'", "git log -- src/*.ts", "git diff --no-index a b", "git cat-file -p HEAD:a"])).toEqual(
      [],
    );
    expect(notAt("L2", ["git grep -O x", "git show --textconv a", "git log --ext-diff", "git cat-file --textconv HEAD:a"])).toEqual([]);
    expect(
      notAt("L2", ["git cat-file --filters HEAD:a", "git cat-file --batch", "git reflog expire --all", "git reflog delete x"]),
    ).toEqual([]);
    expect(
      notAt("L2", ["git config a.b c", "git config --get a b c", "git config --unset a", "git config -e", "git symbolic-ref HEAD x"]),
    ).toEqual([]);
    expect(
      notAt("L2", ["git config --file x --list", "git worktree add x", "git log *", "git log '--output'=x", "git log --form*"]),
    ).toEqual([]);
    expect(notAt("L2", ["git r*", "git stash l*", 'git log "$x"', "git log $x", 'git log --format="$x"', "git reflog e*", "git"])).toEqual(
      [],
    );
  });
});
