import { describe, expect, it } from "vitest";
import { useCommandJudge } from "../../testing/use-command-judge.ts";

const { notAt } = useCommandJudge();

describe("reading commands that overwrite or run something", () => {
  it("xxd -ps a.txt main.ts overwrites main.ts: -ps is one option, not -p and -s with a value", () => {
    const bundled = ["-ps", "-as", "-us", "-bs", "-es", "-is", "-pc", "-ag", "-ul", "-bo"];
    expect(
      notAt(
        "L2",
        bundled.map((option) => `xxd ${option} a.txt main.ts`),
      ),
    ).toEqual([]);
    expect(notAt("L2", ["xxd -cols a main.ts", "xxd -c a.txt main.ts b", "xxd -r a b", "xxd -ps -- a b", "xxd -seek a b"])).toEqual([]);
    expect(notAt("L0", ["xxd -ps a.txt", "xxd -p -u a.txt", "xxd -s -16 -l 16 a.txt", "xxd -c 8 a.txt"])).toEqual([]);
  });

  it("xxd a.txt -C writes a file -C: behind the first operand there are no options", () => {
    expect(notAt("L2", ["xxd a.txt -C", "xxd a -b", "xxd src -ps", "xxd - -i", "xxd a -- b", "uniq a -c", "uniq a --count"])).toEqual([]);
    expect(notAt("L0", ["xxd -C a.txt", "xxd -b -- a", "uniq -c a", "xxd"])).toEqual([]);
  });

  it("tree -PI -- x -o out writes out: tree takes a value from the next word and reads on in the same one", () => {
    expect(notAt("L2", ["tree -PI -- x -o out", "tree -LP 1 x -o out", "tree -IR -- -o", "tree -Po x out", "tree -L2R -o x"])).toEqual([]);
    expect(notAt("L2", ["tree -R -L 1", "tree -o x", "tree -aL", "tree -H . -o x", "tree -P -- -o x"])).toEqual([]);
    expect(notAt("L0", ["tree -L 2", "tree -aL 2 src", "tree -P '*.ts' -I node_modules", "tree --sort=size"])).toEqual([]);
  });

  it("an operand or a value that begins with a dash is no way to bring an option in", () => {
    expect(notAt("L2", ["sort -k -o x", "sort -t -ox y", "uniq -f -c a b", "sort --key --output=x y", "jq --arg a --rawfile x"])).toEqual(
      [],
    );
    expect(notAt("L2", ["find . -name -fprint x", "rg -e --pre=sh x", "rg -A --pre sh", "awk -v -f x", "sed -e -i x"])).toEqual([]);
  });

  it("an option cut short is none", () => {
    expect(notAt("L2", ["sort --outp=x y", "sort --compress-pro=id x", "git log --outp=x", "git diff --ext", "git grep --open x"])).toEqual(
      [],
    );
    expect(notAt("L2", ["diff --pag a b", "file --comp -m x", "date --se=x", "rg --pr=x y", "yq --in x", "tree --outp x"])).toEqual([]);
  });

  it("a letter among others is judged like one alone", () => {
    expect(notAt("L2", ["sort -nro x y", "sort -uT /x y", "diff -ul a b", "file -bC", "rg -nz x", "fd -Hx id", "yq -Ci x y"])).toEqual([]);
    expect(notAt("L2", ["git grep -nOid x", "git -pC . log", "sed -nif x y", "sed -nE -i.bak p x", "sed -nei p x"])).toEqual([]);
    expect(notAt("L2", ["printf -vx y", "date -us 12", "date -Rf x", "hostname -sF x", "less -No x y", "less -Ok x"])).toEqual([]);
  });

  it("what runs or writes only for some words of a program is L2", () => {
    expect(
      notAt("L2", ["less +!id x", "less '+!id' x", "more +!id x", "yq write x a b", "yq w -i x", "yq -s .a x", "date 01010000"]),
    ).toEqual([]);
    expect(notAt("L2", ["npm run x", "npm i", "npm view x", "npm ls --script-shell=x", "npm -v x", "yarn -v", "pnpm -v"])).toEqual([]);
    expect(notAt("L2", ["test -v 'a[$(id)]'", "[ -v 'a[$(id)]' ]", "test -R x", "[ -f x", "[[ -f x ]]"])).toEqual([]);
  });

  it("sed: whatever could be taken for an end of an expression, and every command that writes or runs", () => {
    expect(
      notAt("L2", ["sed 's/[/]/e x/' a", "sed 's/[\\]/x/e' a", "sed 's/a\\/b/e x/w f' a", "sed 's/a/b/we f' x", "sed '1!e id' x"]),
    ).toEqual([]);
    expect(
      notAt("L2", ["sed 's/a/b/;w x' y", "sed '1r x' y", "sed '/a/{w x' y", "sed 'y/a/b/;1e' x", "sed '$!{e' x", "sed p;e x"]),
    ).toEqual([]);
    expect(notAt("L2", ['sed "1,$n e" x', "sed p$x y", "sed s/a/b/* y", "sed --expression=e x"])).toEqual([]);
    expect(notAt("L0", ["sed -n '/start/,/end/p' a", "sed '1d;$d' a", "sed -E 's/([a-z]+)\\.ts$/\\1/g' a", "sed -ne 5,20p a"])).toEqual([]);
    expect(
      notAt("L0", ["sed -e 's/[[:space:]]*$//' -e '/^$/d' a", "sed -n '1~2p;10q' a", "sed '/^#/!d' a", "sed 's#////#____#g' a"]),
    ).toEqual([]);
  });

  it("awk: a program that runs, writes or reads commands, however it is dressed", () => {
    const programs = [
      'BEGIN{system("id")}',
      'BEGIN { system ("id") }',
      '{print > "x"}',
      '{print $1 >> "x"}',
      '{printf "%s", $0 > "x"}',
      '{print | "sh"}',
      '{"id" | getline x; print x}',
      'BEGIN{while(("id")|getline)print}',
      "{print |& x}",
      '@include "x"',
      "@load x",
      'BEGIN{f="system";@f("id")}',
      "function f(x){system(x)} {f($0)}",
      '{print /"/; system("id") /"/}',
      '{if (1) /"/; system("id"); /"/}',
      '{x = 1 /"/; system("id") # "/ }',
      '/[/]/{system("id")}/x/',
      '/[\\]/]/,system("id")/',
      'BEGIN{print "a" # "\n',
      "{print (a) > b}",
      '{print a, /;/ > "x"}',
      'awk::system("id")',
      'BEGIN{getline < "x"}',
    ];
    expect(
      notAt(
        "L2",
        programs.map((program) => `awk '${program}' a`),
      ),
    ).toEqual([]);
    expect(notAt("L2", ["awk -f x", "awk -i inplace 1 x", "awk -o 1", "awk -E x", "awk -W exec=x", "awk -p 1", "awk -d 1 x"])).toEqual([]);
    expect(notAt("L2", ["awk $x a", 'awk "$x" a', "awk a* b", "awk 1 -f x", "awk -vx 1 y", "awk --exec x", "awk -lx 1"])).toEqual([]);
  });

  it("git: formats and sort keys that have a signature verified", () => {
    expect(
      notAt("L2", ["git log --format=%G?", "git log '--pretty=%h %GG'", "git log --pretty='%+GK'", "git show --format='%<(9)%GS'"]),
    ).toEqual([]);
    expect(
      notAt("L2", ["git for-each-ref --format='%(signature)'", "git branch --format '%(signature:grade)'", "git tag -l --sort=-signature"]),
    ).toEqual([]);
  });
});
