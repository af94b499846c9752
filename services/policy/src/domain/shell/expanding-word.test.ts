import { describe, expect, it } from "vitest";
import { useCommandJudge } from "../../testing/use-command-judge.ts";

const { judge, notAt } = useCommandJudge();

describe("words that the shell still expands", () => {
  it("globs are operands of reading programs, where no file's name can make an option of them", () => {
    expect(notAt("L0", ["cat src/*.ts", "sort a*.txt", "diff a? b?", "rg x src/[a-z]*", "jq . data/*.json", "file a*"])).toEqual([]);
    expect(notAt("L0", ["ls *.ts", "wc -l *", "grep x *", "grep [s]tring", "du -sh .[^.]* *", "tr [:lower:] [:upper:]"])).toEqual([]);
    expect(notAt("L0", ["sort -- *.txt", "rg x -- *", "grep -r --include=*.ts x .", "find src/* -name x", "awk 1 src/*"])).toEqual([]);
    expect(notAt("L2", ["sort *", "rg x *", "sort [a-]x", "find * -name x", "tree ?", "sort -*", "sort -k* x", "rg --* x"])).toEqual([]);
    expect(notAt("L2", ["xxd a*", "uniq a*", "date +*", "ps a*", "cd a*", "xxd -- *", "l? a", "src/* x", "rg -g *.ts x"])).toEqual([]);
  });

  it("a variable is a word that somebody else chose: not where it may be an option", () => {
    expect(notAt("L0", ['cat "$HOME/x"', 'sort "$PWD"', 'rg x "${HOME}/y"', 'sort "a/$x"', 'cat "$x"', 'ls "$x"', 'grep "^$x" a'])).toEqual(
      [],
    );
    expect(notAt("L0", ['echo "My path is $PATH"', "echo $x $?", 'printf "%s\\n" "$x" $y', 'sort -- "$x"', 'test -f "a/$x"'])).toEqual([]);
    expect(
      notAt("L2", [
        'sort "$x"',
        'rg "$x" y',
        "sort $HOME",
        "ls $HOME",
        "cat -- $x",
        "rg x $y",
        'printf "$x"',
        "$x a",
        '"$x" a',
        "sort a$x",
      ]),
    ).toEqual([]);
    expect(notAt("L2", ['[ "$x" = y ]', 'test "$x"', 'xxd "$x"', 'find "$x"', 'sed "$x" y', 'cd "$x"', 'sort "$HOMER"'])).toEqual([]);
    expect(
      notAt("L2", ['echo "$(id)"', 'echo "${x@P}"', 'echo "${x:-y}"', 'echo "$((1))"', 'echo "${!x}"', 'echo "${x[0]}"', 'echo "$1"']),
    ).toEqual([]);
  });

  it("a backslash or a dollar sign in double quotes is text where a shell takes it for text", () => {
    expect(
      notAt("L0", ['grep "a\\.b" c', 'rg "\\bfoo\\(" src', 'grep "x$" y', 'echo "a \\"b\\" \\$c"', "find . \\( -name \\*.ts \\)"]),
    ).toEqual([]);
    expect(notAt("L0", ["find . \\! -name x", "rg foo\\.bar", "nl -b p'a[0-9]' x", "rg --glob='*.ts' x", 'cat "a b"/c'])).toEqual([]);
    expect(notAt("L2", ['echo "a`id`"', 'echo "!x"', 'echo "a\\`b"`id`', 'echo "\\\\$(id)"', "l\\s", "echo a\\b", "echo \\$(id)"])).toEqual(
      [],
    );
  });

  it("nothing expands where something may be written", () => {
    expect(notAt("L2", ["touch a*", "cp a? b", "mkdir a$x", 'touch "a/$x"', "git add src/*", "chmod +x a*", "ls * && touch a"])).toEqual(
      [],
    );
    expect(notAt("L2", ["echo $x | tee a", "tee a{b,c}", "tee {a,b}"])).toEqual([]);
  });

  it("only silence, the other stream and a file to read are harmless redirections", () => {
    expect(
      notAt("L0", ["ls 2>/dev/null", "cat a >/dev/null 2>&1", "rg x 2> /dev/null | wc -l", "ls a >&2", "tr a b < x", "wc -l <x"]),
    ).toEqual([]);
    expect(notAt("L0", ["cat < x 2>/dev/null | sort", "ls a 2>/dev/null || echo none", "tr < x a b", "grep -c x <a >/dev/null"])).toEqual(
      [],
    );
    expect(
      notAt("L2", ["ls > x", "ls >> x", "ls 2> x", "cat <<E", "cat <<<x", "cat <(ls)", "ls >(sh)", "ls 3>/dev/null", "ls <&3"]),
    ).toEqual([]);
    expect(
      notAt("L2", ["ls &> /dev/null", "ls >| x", "cat <> x", "ls >/dev/sda", "ls >/dev/nullx", "ls > $x", "ls > /dev/n*", "> x"]),
    ).toEqual([]);
    expect(
      notAt("L2", ["cat < /dev/tcp/a/80", "cat < //dev/udp/a/1", "cat < $x", "cat < a*", "cat 0<x 3<y", "ls {a}>x", "ls 12>/dev/null"]),
    ).toEqual([]);
    expect(notAt("L1", ["tee a < b", "touch a 2>/dev/null", "mkdir -p a 2>&1"])).toEqual([]);
  });

  it("does not let an answer for the session cover another file that is written", () => {
    expect(judge("npm test 2>&1").scope).toEqual(judge("npm test").scope);
    expect(judge("npm test > a").scope).not.toEqual(judge("npm test").scope);
    expect(judge("npm test > a").scope).not.toEqual(judge("npm test > b").scope);
    expect(judge("python x < a").scope).not.toEqual(judge("python x < b").scope);
    expect(judge("python x $y").scope).not.toEqual(judge("python x '$y'").scope);
  });
});
