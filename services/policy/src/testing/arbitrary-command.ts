import fc from "fast-check";
import { gitRules } from "../domain/shell/judge-git.ts";
import { readingRules } from "../domain/shell/reading-rules.ts";
import { searchRules } from "../domain/shell/search-rules.ts";
import { writingRules } from "../domain/shell/writing-rules.ts";
import { argumentsBy, operand } from "./arbitrary-arguments.ts";

const byRule = (program: string, rule: Parameters<typeof argumentsBy>[1]): fc.Arbitrary<string> =>
  argumentsBy(program.split(" ").at(-1)!, rule).map((words) => [program, ...words].join(" "));
const reading = fc.oneof(...Object.entries({ ...readingRules, ...searchRules }).map(([program, rule]) => byRule(program, rule)));
const writing = fc.oneof(...Object.entries(writingRules).map(([program, rule]) => byRule(program, rule)));
const git = fc.oneof(
  ...Object.entries(gitRules).map(([subcommand, rule]) => byRule(`git ${subcommand}`, rule)),
  fc.constantFrom("git branch -a", "git -C src log", "git -C . status", "git stash list", "git config --list", "git -c core.pager=x log"),
  fc.constantFrom(
    "git tag -l",
    "git remote -v",
    "git stash show -p stash@{0}",
    "git branch x",
    "git log --format=%G?",
    "git worktree list",
  ),
);

const expression = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom("-name '*.ts'", "-type f", "-maxdepth 2", "-not -path './src/*'", "-print", "-size +1k", "\\! -name a"),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom("\\( -name a -o -name b \\)", "-printf '%p\\n'", "-newer a.txt", "-mtime -1", "-print0", "-empty", "-prune"),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "-delete",
      "-exec rm {} \\;",
      "-fprint out",
      "-fls out",
      "-ok rm",
      "-execdir id",
      "-name *.ts",
      "-fprintf out x",
    ),
  },
);
const find = fc
  .tuple(fc.array(operand, { maxLength: 2 }), fc.array(expression, { maxLength: 3 }))
  .map((words) => ["find", ...words.flat()].join(" "));

const sedCommand = fc
  .tuple(
    fc.constantFrom("", "1", "$", "1,3", "/a/", "/a/,/b/", "2!", "/[a-z]/", "0~2", "/a\\/b/"),
    fc.constantFrom(
      "p",
      "d",
      "=",
      "q",
      "s/a/b/",
      "s/a/b/g",
      "s#a#b#2p",
      "s/[ab]/x/",
      "s/\\(a\\)/\\1/",
      "n",
      "w out",
      "e id",
      "s/a/b/w out",
      "s/a/id/e",
      "i x",
    ),
  )
  .map(([address, command]) => address + command);
const sed = fc
  .tuple(
    fc.constantFrom("", "-n", "-E", "-nE", "-i", "-n -e", "-s", "-ne", "-i.bak", "-f"),
    fc.array(sedCommand, { minLength: 1, maxLength: 3 }),
    operand,
  )
  .map(([flags, commands, file]) => `sed ${flags} '${commands.join(";")}' ${file}`);

const awkPiece = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom(
      "{print}",
      "{print $1, $NF}",
      "NR==1",
      "NR>1",
      "/a/",
      "$1 > 2 {print $2}",
      "END{print NR}",
      "{s+=$1} END{print s/NR}",
    ),
  },
  {
    weight: 5,
    arbitrary: fc.constantFrom(
      '{gsub(/[ab]/, "x"); print}',
      'BEGIN{FS=","}',
      "length($0) > 3",
      '{printf "%s\\n", toupper($1)}',
      "!seen[$0]++",
      "/a/,/b/",
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '{print > "out"}',
      '{system("touch out")}',
      '{print | "cat > out"}',
      '{printf "x" >> "out"}',
      '{"id" | getline x}',
      "{a /b/ c}",
    ),
  },
);
const awk = fc
  .tuple(
    fc.constantFrom("", "-F,", "-F ':'", "-v x=1", "-vx=a", "-f a.txt", "-i inplace", "-o"),
    fc.array(awkPiece, { minLength: 1, maxLength: 2 }),
    operand,
  )
  .map(([flags, pieces, file]) => `awk ${flags} '${pieces.join(" ")}' ${file}`);

const plain = fc.oneof(
  fc.array(operand, { maxLength: 3 }).map((words) => ["echo", ...words].join(" ")),
  fc.array(operand, { maxLength: 2 }).map((words) => ["printf '%s\\n'", ...words].join(" ")),
  fc.tuple(fc.constantFrom("-f", "-d", "-n", "-z", "! -e", "-v"), operand).map(([operator, word]) => `test ${operator} ${word}`),
  fc.tuple(operand, fc.constantFrom("=", "!=", "-nt", "-eq"), operand).map(([left, operator, right]) => `[ ${left} ${operator} ${right} ]`),
  fc.constantFrom(
    "node -v",
    "npm -v",
    "npm ls",
    "env",
    "python3 --version",
    "command -v ls",
    "timeout 5 ls",
    "nice cat a.txt",
    "env cat b.txt",
  ),
  fc.constantFrom(
    "rm a.txt",
    "xargs rm",
    "bash -c ls",
    "xxd -ps a.txt main.ts",
    "tree -PI -- x -o out",
    "sort -uo out a.txt",
    "env -S ls",
    "uniq a.txt out",
  ),
);

const command = fc.oneof(
  { weight: 12, arbitrary: reading },
  { weight: 3, arbitrary: git },
  { weight: 2, arbitrary: find },
  { weight: 2, arbitrary: sed },
  { weight: 2, arbitrary: awk },
  { weight: 2, arbitrary: plain },
  { weight: 1, arbitrary: writing },
);
const redirection = fc.oneof(
  { weight: 14, arbitrary: fc.constant("") },
  { weight: 4, arbitrary: fc.constantFrom(" 2>/dev/null", " >/dev/null", " 2>&1", " < a.txt", " <b.txt 2>/dev/null", " >&2") },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      " > out",
      " >> a.txt",
      " &> out",
      " >| out",
      " <> a.txt",
      " 2> out",
      " > $x",
      " > /dev/nul*",
      " <<<x",
      " <(id)",
    ),
  },
);
const part = fc.tuple(command, redirection).map((pieces) => pieces.join(""));
const joint = fc.oneof(
  { weight: 10, arbitrary: fc.constantFrom(" && ", " | ", "; ", " || ", "|", "&&") },
  { weight: 1, arbitrary: fc.constantFrom(" & ", "\n", " |& ") },
);
const start = fc.oneof(
  { weight: 12, arbitrary: fc.constant("") },
  { weight: 1, arbitrary: fc.constantFrom("cd src && ", "cd docs; ", "X=1 ", "! ") },
);

const further = fc.oneof(
  { weight: 6, arbitrary: fc.constant([]) },
  { weight: 4, arbitrary: fc.array(fc.tuple(joint, part), { minLength: 1, maxLength: 2 }) },
);

/**
 * Commands from a grammar of the shell and of the flags of the allowed tools: taken from the tables that judge them, with flags
 * bundled, attached, apart, cut short or unknown, globs, variables, quotes, redirections and pipes. A good part is judged
 * L0, the rest nearly. They name `a.txt`, `b.txt`, `a b.txt`, `main.ts`, `data.json`, `src/c.ts` and `docs/notes.md`; what writes
 * writes to `out` or over one of them. None waits for long.
 */
export const arbitraryCommand: fc.Arbitrary<string> = fc
  .tuple(start, part, further, fc.constantFrom("", "", "", " "))
  .map(([beginning, first, rest, end]) => beginning + first + rest.flat().join("") + end);
