import { describe, expect, it } from "vitest";
import { useCommandJudge } from "../../testing/use-command-judge.ts";

const { notAt } = useCommandJudge();

describe("attacks on the classification", () => {
  it("1: find with actions", () => {
    expect(
      notAt("L2", [
        "find . -exec id \\;",
        "find . -exec id '{}' '+'",
        "find . -execdir id",
        "find . -ok id",
        "find . -delete",
        "find . -fls x",
      ]),
    ).toEqual([]);
    expect(
      notAt("L2", ["find . -fprintf x y", "find . -fprint x", "find . -okdir id", "find . -name -delete", "find . -newer -exec id"]),
    ).toEqual([]);
  });
  it("12: git that runs programs", () => {
    expect(
      notAt("L2", [
        "git -c core.pager=id log",
        "git -c alias.x=!sh x",
        "git fetch --upload-pack=id",
        "git diff --ext-diff",
        "git log --textconv",
      ]),
    ).toEqual([]);
    expect(
      notAt("L2", [
        "git grep -Oid x",
        "git grep --open-files-in-pager=id x",
        "git --exec-path=x status",
        "git -p log",
        "git branch x",
        "git branch -D x",
      ]),
    ).toEqual([]);
    expect(
      notAt("L2", [
        "git commit -m x",
        "git x",
        "git remote add a b",
        "git stash",
        "git config user.name x",
        "git log --show-signature",
        "git cat-file --filters x",
      ]),
    ).toEqual([]);
    expect(
      notAt("L2", ["git tag v1", "git branch --edit-description", "git show --output=x", "git --git-dir=x log", "git reflog expire --all"]),
    ).toEqual([]);
  });
  it("14: sed that writes or runs", () => {
    expect(
      notAt("L2", [
        "sed s/a/id/e x",
        "sed 'w f' x",
        "sed -i s/a/b/ x",
        "sed -n '1p;w f' x",
        "sed 's/a/b/w f' x",
        "sed -f x y",
        "sed --in-place s/a/b/ x",
        "sed '1e id' x",
      ]),
    ).toEqual([]);
    expect(notAt("L2", ["sed -n -i 1p x", "sed 's/a/b/;e id' x", "sed 1p -e 'w x' y", "sed 's/[/]/x/e' y", "sed -ni 1p x"])).toEqual([]);
  });
  it("15: rg that runs programs", () =>
    expect(notAt("L2", ["rg --pre sh x", "rg --pre=sh x", "rg --hostname-bin id x", "rg -z x", "rg --search-zip x"])).toEqual([]));
  it("16: sort, tar, awk and others that write or run", () => {
    expect(
      notAt("L2", [
        "sort -o x y",
        "sort -uo x y",
        "sort --compress-program=id x",
        "sort --out=x y",
        "tar cf x --checkpoint-action=exec=id y",
        "tar xf a",
      ]),
    ).toEqual([]);
    expect(
      notAt("L2", [
        "awk 'BEGIN{system(\"id\")}'",
        "awk '{print > \"x\"}' y",
        "awk -f x y",
        "uniq a b",
        "xxd a b",
        "tree -o x",
        "date -s 12:00",
        "fd -x id",
      ]),
    ).toEqual([]);
  });
});
