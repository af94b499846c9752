import fc, { type Arbitrary } from "fast-check";

/** Names of the canary tree, and some that are not there. */
const operands = fc.constantFrom(
  "a.txt",
  "main.ts",
  "sub",
  "sub/b.txt",
  "data.json",
  "empty",
  "link",
  "run.sh",
  ".hidden",
  ".",
  "..",
  "out",
  "-",
  "*.txt",
);
const numbers = fc.constantFrom("1", "3", "-1", "+2", "0");
const patterns = fc.constantFrom("a", "export", "^", "x.*", "'two words'", "-o", "main.ts");

interface Program {
  readonly name: string;
  readonly flags: readonly string[];
}

const program = (name: string, flags: string): Program => ({ name, flags: flags.split(" ") });

/** Reading programs with flags that read, and with those that write or run something where one is not careful. */
const programs: readonly Program[] = [
  program("ls", "-l -a -R -t --color=always -i"),
  program("cat", "-n -A -e"),
  program("head", "-n -c -1 -q"),
  program("tail", "-n -c -1 --pid=1"),
  program("wc", "-l -c --files0-from=a.txt"),
  program("sort", "-u -k1 -o --output=main.ts -T --compress-program=sh -om"),
  program("uniq", "-c -d -f -s -w"),
  program("cut", "-c1 -d, -f1 --output-delimiter=x"),
  program("tr", "a b -d -s"),
  program("diff", "-u -r -q --label -N"),
  program("cmp", "-l -s -n"),
  program("comm", "-1 -2 -3"),
  program("du", "-s -h -a --files0-from=a.txt"),
  program("stat", "-c %n -t -L"),
  program("file", "-b -i -C -m -z"),
  program("md5sum", "-b -c --tag"),
  program("base64", "-d -w 0"),
  program("xxd", "-ps -p -as -bs -us -es -is -r -c 4 -l 8 -o 2 -g 1"),
  program("od", "-c -x -A n"),
  program("hexdump", "-C -n 4 -f"),
  program("strings", "-n 2 -a -o"),
  program("nl", "-ba -w 2"),
  program("tac", "-r -s a"),
  program("rev", ""),
  program("column", "-t -s ,"),
  program("tree", "-a -PI -L 1 -o --fromfile -R"),
  program("grep", "-r -n -i -l -f --include=*.ts -e -c"),
  program("rg", "-n -i --pre sh --files -g -z --hostname-bin"),
  program("find", ". -name -type f -newer -delete -exec -fprint -print -maxdepth 1 -ls"),
  program("sed", "-n -e -i s/a/b/ p w -s 1p"),
  program("awk", "{print} -F, -f NR==1 BEGIN{print}"),
  program("jq", ". -r -n --arg -f keys"),
  program("git status", "-s --porcelain -b -uall"),
  program("git log", "--oneline -p -1 --output=out --stat --ext-diff -S"),
  program("git diff", "--stat HEAD --cached --output=out --no-index -O --textconv"),
  program("git show", "HEAD HEAD:a.txt --stat --output=out"),
  program("git -C sub", "status log diff"),
  program("git branch", "-a -v -d --list -m new"),
  program("git config", "--get --list -l user.name x"),
  program("git tag", "-l -d v1"),
  program("git stash", "list show pop"),
  program("date", "-u +%s -s -r"),
  program("printenv", "PATH HOME"),
  program("readlink", "-f -e"),
  program("basename", "-a -s"),
  program("env", "ls cat -i -S"),
  program("timeout", "1 ls 2 cat -k"),
];

const simple: Arbitrary<string> = fc.constantFrom(...programs).chain(({ name, flags }) =>
  fc
    .array(fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...flags) }, { weight: 4, arbitrary: operands }, numbers, patterns), {
      maxLength: 5,
    })
    .map((words) => [name, ...words].join(" ").trim()),
);

/** Commands as a model writes them: most of them read, and some only look like it. */
export const readOnlyCommands: Arbitrary<string> = fc
  .array(fc.tuple(simple, fc.constantFrom(" | ", " && ", " ; ", " || ")), { minLength: 1, maxLength: 3 })
  .map((pieces) => pieces.map(([command, joint], index) => (index === pieces.length - 1 ? command : command + joint)).join(""));
