import { describe, expect, it } from "vitest";
import { useCommandJudge } from "../../testing/use-command-judge.ts";

const { notAt } = useCommandJudge();

describe("what may be written without asking where edits are accepted", () => {
  it("cp -r evil/. . puts settings in place that later run: whatever may bring a tree is L2", () => {
    expect(
      notAt("L2", ["cp -r evil/. .", "cp -R a b", "cp -a a b", "cp --recursive a b", "cp -fr a b", "cp --archive a b", "cp -dR a b"]),
    ).toEqual([]);
    expect(
      notAt("L2", ["mv a b", "mv -f a b", "mv a/b .", "rsync -a a b", "ln -s a b", "cp -P a b", "cp -l a b", "cp --parents a b"]),
    ).toEqual([]);
    expect(
      notAt("L2", ["tar xf a", "unzip a", "patch -p1", "git checkout .", "git apply x", "install a b", "dd if=a of=b", "sed -i p a"]),
    ).toEqual([]);
  });

  it("is L2 where other programs obey what is written", () => {
    const files = [".github/workflows/ci.yml", ".vscode/tasks.json", ".codex/config.toml", ".zed/tasks.json", "bitbucket-pipelines.yml"];
    expect(
      notAt(
        "L2",
        files.flatMap((file) => [`tee ${file}`, `cp a ${file}`, `cp evil/${file} .`, `touch ${file}`, `mkdir -p ${file}`]),
      ),
    ).toEqual([]);
    expect(notAt("L2", ["chmod +x .git/hooks/pre-commit", "rmdir .git", "git add .github", "tee a .envrc", "cp a b .zed"])).toEqual([]);
  });

  it("is L1 for single files and folders below the workspace", () => {
    expect(
      notAt("L1", [
        "mkdir -p a/b",
        "touch a b",
        "rmdir a",
        "cp a b",
        "cp -p a b/",
        "tee -a a",
        "chmod u+x a",
        "chmod -- -x a",
        "git add a",
      ]),
    ).toEqual([]);
  });
});
