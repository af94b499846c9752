import { describe, expect, it } from "vitest";
import { useCommandJudge } from "../../testing/use-command-judge.ts";

const { notAt } = useCommandJudge();

describe("what an agent reads with", () => {
  it("is L0", () => {
    expect(
      notAt("L0", [
        "ls",
        "ls -la src/ --color=never",
        "cat README.md",
        "head -20 a.ts",
        "head -n 20 'a b.ts'",
        "git status",
        "git status --porcelain=v1 -b",
        "git log --oneline -10",
        "git log --format='%h %s' HEAD~3..HEAD",
        "git --no-pager diff --stat HEAD -- src",
        "git branch --list",
        "git branch -a",
        "git show HEAD~2:package.json",
        "git stash list",
        "git config --get user.name",
        "rg -n --glob '*.ts' 'export function \\w+' src",
        "rg pattern",
        'grep -rn "TODO" --include="*.ts" .',
        "find . -name '*.ts' -not -path './node_modules/*' -type f",
        "find . '(' -name a -o -name b ')' -print",
        "cd src && ls | head -5; pwd || echo none",
        "sed -n '10,20p' a.ts",
        "sed 's/a/b/g' a.txt",
        "awk '{print $1}' a.txt",
        "sort -k 2,2n -t : a.txt | uniq -c",
        "wc -l a.ts b.ts",
        "env",
        "timeout 10 git log",
        "command -v node",
        "node --version",
        "jq '.scripts | keys' package.json",
        "date +%s",
      ]),
    ).toEqual([]);
  });

  it("is L1 where it changes files as write_file does", () => {
    expect(
      notAt("L1", [
        "mkdir -p a/b",
        "touch a.txt",
        "cp a.txt b.txt",
        "echo hi | tee a.txt",
        "chmod +x run.sh",
        "git add -A",
        "ls && mkdir x",
      ]),
    ).toEqual([]);
  });
});
