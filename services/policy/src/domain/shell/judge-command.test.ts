import { posix } from "node:path";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { loadTreeSitterWords } from "../../adapters/parsers/tree-sitter-words.ts";
import { unbashWords } from "../../adapters/parsers/unbash-words.ts";
import { sensitivePart } from "../judge/sensitive-path.ts";
import { createCommandJudge, type JudgeCommand } from "./judge-command.ts";
import { literalWords } from "./literal-words.ts";
import type { WordReader } from "./word-reader.ts";

let judge: JudgeCommand;
let treeSitterWords: WordReader;
beforeAll(async () => {
  treeSitterWords = await loadTreeSitterWords();
  judge = createCommandJudge([treeSitterWords, unbashWords]);
});

const levelOf = (command: string): string => judge(command).level;
/** Those of the commands that are at another level. */
const notAt = (level: string, commands: readonly string[]): string[] => commands.filter((command) => levelOf(command) !== level);

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
        "mv a.txt b/",
        "echo hi | tee a.txt",
        "chmod +x run.sh",
        "git add -A",
        "ls && mkdir x",
      ]),
    ).toEqual([]);
  });

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
    expect(notAt("L1", ["cd src && mkdir x", "cd ./a/b; touch c; cd d && rmdir e", "git -C a add b"])).toEqual([]);
    expect(notAt("L0", ["cd .git/hooks && ls", "cd / && cat etc/hostname", "git -C .. log"])).toEqual([]);
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
  it("6: every part is judged", () => {
    const joints = [" && ", " ; ", ";", " | ", " || ", " & ", " |& ", "\n", "&&", "|", "&"];
    for (const joint of joints) expect(judge(`echo ok${joint}rm x`)).toMatchObject({ level: "L2", destructive: "rm" });
    for (const joint of joints) expect(levelOf(`npm test${joint}echo ok`)).toBe("L2");
  });
  it("7: 5,000 harmless parts before a forbidden one", () => {
    expect(levelOf(Array.from({ length: 5_000 }, () => "ls").join(";"))).toBe("L0");
    expect(judge(`${"ls;".repeat(5_000)}rm -rf /`)).toMatchObject({ level: "L2", danger: { decision: "deny" } });
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
  it("10: variables that load code", () => {
    expect(
      notAt("L2", ["LD_PRELOAD=x ls", "NODE_OPTIONS=--require=x node --version", "GIT_SSH_COMMAND=x git status", "env LD_PRELOAD=x ls"]),
    ).toEqual([]);
  });
  it("11: what a wrapper runs is judged", () => {
    expect(notAt("L0", ["env ls", "timeout 5 ls", "timeout 1.5s git status", "nice cat a", "nice -n 5 ls"])).toEqual([]);
    expect(
      notAt("L2", [
        "env sh",
        "sudo ls",
        "watch ls",
        "setsid ls",
        "xargs cat",
        "ls | xargs rm",
        "timeout 5 npm test",
        "timeout -s 9 5 ls",
        "env -i ls",
        "env -S 'ls x'",
      ]),
    ).toEqual([]);
    for (const wrapper of ["env", "sudo", "sudo -u root", "watch", "setsid", "xargs -n 1", "timeout 5", "nohup", "bash -c", "sh -ec"])
      expect(judge(`${wrapper} 'rm' -rf /`).danger ?? judge(`${wrapper} 'rm -rf /'`).danger).toMatchObject({ decision: "deny" });
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
  it("17: names given a new meaning", () => {
    expect(
      notAt("L2", [
        "alias ls=rm",
        "ls(){ rm x; }; ls",
        "trap id EXIT",
        "eval ls",
        "source x",
        ". x",
        "function ls { id; }",
        "exec ls",
        "builtin eval ls",
        "hash -p /x ls",
      ]),
    ).toEqual([]);
  });
  it("18: characters that cannot be seen or told apart are denied", () => {
    for (const hidden of ["\u00a0", "\u200b", "\u200d", "\u202e", "\u2066", "\ufeff", "\u2028", "\u{e0041}"])
      expect(judge(`cat a${hidden}b`)).toMatchObject({ level: "L2", danger: { decision: "deny", rule: "hidden character" } });
    expect(judge("git commit -m 'größer ✓'").danger).toBeUndefined();
  });
  it("19: interpreters and builds are never L1", () => {
    expect(
      notAt("L2", [
        "bash -c ls",
        "python -c 'print(1)'",
        "npm test",
        "make",
        "node x.js",
        "npx tsc",
        "sh x",
        "perl -e 1",
        "./run",
        "/bin/ls",
        "npm --version x",
      ]),
    ).toEqual([]);
  });
});

describe("properties", () => {
  const parts = fc.array(
    fc.constantFrom(
      "ls",
      "cat",
      "find",
      "git",
      "-la",
      "log",
      "a b",
      "|",
      "&&",
      ";",
      "'",
      '"',
      "\\",
      "$x",
      "*",
      "~",
      "#",
      "{a,b}",
      " ",
      "-exec",
      "`",
      "(",
      "!",
      "=",
      ">",
    ),
    {
      maxLength: 12,
    },
  );

  it("gives nothing but L2 to a command outside printable ASCII", () => {
    const outside = fc.string({ unit: "binary", minLength: 1 }).filter((text) => /[^\x20-\x7e]/.test(text));
    const property = fc.property(
      outside,
      fc.constantFrom("ls ", "cat ", "echo '", 'rg "'),
      (text, start) => levelOf(start + text) === "L2",
    );
    expect(() => fc.assert(property, { numRuns: 500 })).not.toThrow();
  });

  it("gives a level above L2 only to words that both parsers read alike", () => {
    const property = fc.property(parts, fc.boolean(), (pieces, spaced) => {
      const command = pieces.join(spaced ? " " : "");
      const readings = [literalWords, unbashWords, treeSitterWords].map((read) => JSON.stringify(read(command)));
      return levelOf(command) === "L2" || new Set(readings).size === 1;
    });
    expect(() => fc.assert(property, { numRuns: 2_000 })).not.toThrow();
  });

  it("gives L1 to nothing that lands where write_file would be L2", () => {
    const folder = fc.constantFrom(
      "a",
      "./a/b",
      ".",
      "..",
      "/",
      "a/../..",
      "-",
      "'a b'",
      ".git",
      "a/.git/hooks",
      ".vscode",
      "/workspace/a",
    );
    const write = fc.constantFrom("touch f", "mkdir -p a/f", "tee ../f", "touch .npmrc", "touch hooks/f", "ls && tee f");
    const joint = fc.constantFrom(" && ", "; ", " | ", " || ");
    const property = fc.property(fc.option(folder), fc.array(folder, { maxLength: 4 }), write, joint, (start, folders, last, between) => {
      const { level } = judge([...folders.map((name) => `cd ${name}`), last].join(between), start ?? undefined);
      const place = [start ?? ".", ...folders.map((name) => name.replaceAll("'", "")), last.split(" ").at(-1)!];
      const target = posix.resolve("/workspace", ...place.filter((name) => name !== "-"));
      const isOutside = !target.startsWith("/workspace/") || sensitivePart(target) !== undefined;
      return level === "L2" || (level === "L1" && !isOutside && !place.includes("-"));
    });
    expect(() => fc.assert(property, { numRuns: 2_000 })).not.toThrow();
  });

  it("never throws, and never finds danger in what it lets read", () => {
    const property = fc.property(
      fc.oneof(
        fc.string(),
        parts.map((pieces) => pieces.join(" ")),
      ),
      (command) => {
        const { level, danger, destructive } = judge(command);
        return level !== "L0" || (danger === undefined && destructive === undefined);
      },
    );
    expect(() => fc.assert(property, { numRuns: 2_000 })).not.toThrow();
  });

  it("makes no command harmless by adding to it", () => {
    const property = fc.property(
      parts,
      (pieces) => levelOf(`npm test && ${pieces.join(" ")}`) === "L2" && levelOf(`${pieces.join(" ")} | sh`) === "L2",
    );
    expect(() => fc.assert(property)).not.toThrow();
  });
});
