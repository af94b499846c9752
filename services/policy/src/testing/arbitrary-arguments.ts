import fc from "fast-check";
import type { CommandRule } from "../domain/shell/command-rule.ts";

/** Words that name something in the tree, or that a program takes for text; most are harmless, some are near to harm. */
export const operand: fc.Arbitrary<string> = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom("a.txt", "b.txt", "main.ts", "src/c.ts", "src", "docs/notes.md", "data.json", ".", "./src/") },
  { weight: 4, arbitrary: fc.constantFrom("'a b.txt'", '"a b.txt"', "src/'c'.ts", '"src"/c.ts', "a\\.txt", "HEAD@{0}", "HEAD~1", "x=1") },
  { weight: 3, arbitrary: fc.constantFrom("src/*", "*.txt", "a?txt", "[ab].txt", "docs/*.md", "./*", "{}", "*") },
  { weight: 3, arbitrary: fc.constantFrom('"$HOME/x"', '"$PWD"', '"src/$USER"', "'$x'", '"a\\.b$"', '"$x"', "$x", "~/a") },
  {
    weight: 1,
    arbitrary: fc.constantFrom("-", "--", "-x", "--output=out", "-oout", "-o", "out", "/etc/hostname", "+1", "@a.txt", ""),
  },
);

const value: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom("1", "2", "10", "a", "name", "'*.ts'", '","', "x", "auto", "src") },
  { weight: 1, arbitrary: fc.oneof(operand, fc.constantFrom("-o", "--", "-5", "out")) },
);
const anyLetter = fc.constantFrom(..."abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123");
const dangerous = fc.constantFrom(
  "-o",
  "-i",
  "-exec",
  "--output=out",
  "--in-place",
  "-w",
  "--pre",
  "-f",
  "--compress-program",
  "-delete",
  "-oout",
);

/** Flags that wait for something that never comes; a test that runs commands would wait with them. */
const ENDLESS = /^(f|F|follow|retry|pid|s|sleep-interval)$/;

/** The arguments of a program by its rule, and those that are nearly by it. */
export function argumentsBy(program: string, rule: CommandRule): fc.Arbitrary<string[]> {
  const isEndless = (name: string): boolean => program === "tail" && ENDLESS.test(name);
  const letters = [...(rule.flags ?? "")].filter((letter) => !isEndless(letter));
  const valued = [...(rule.valueFlags ?? "")].filter((letter) => !isEndless(letter));
  const longs = (rule.longFlags ?? []).filter((name) => !isEndless(name));
  const longOptional = (rule.longOptionalFlags ?? []).filter((name) => !isEndless(name));
  const longValued = (rule.longValueFlags ?? []).filter((name) => !isEndless(name));
  const oneOf = (texts: readonly string[], fallback: string): fc.Arbitrary<string> =>
    fc.constantFrom(...(texts.length > 0 ? texts : [fallback]));

  const bundle = fc.array(oneOf(letters, "a"), { minLength: 1, maxLength: 3 }).map((bundled) => [`-${bundled.join("")}`]);
  const apart = fc.tuple(oneOf(valued, "n"), value).map(([letter, text]) => [`-${letter}`, text]);
  const attached = fc.tuple(oneOf(valued, "n"), value).map(([letter, text]) => [`-${letter}${text}`]);
  const long = oneOf([...longs, ...longOptional], "help").map((name) => [`--${name}`]);
  const longWith = fc
    .tuple(oneOf([...longValued, ...longOptional], "lines"), value, fc.constantFrom("=", " "))
    .map(([name, text, joint]) => (joint === "=" ? [`--${name}=${text}`] : [`--${name}`, text]));
  const pair = fc.tuple(oneOf(rule.longPairFlags ?? [], "arg"), value, value).map(([name, first, second]) => [`--${name}`, first, second]);
  const word = oneOf(rule.wordFlags ?? [], "-a").map((text) => [text]);
  const near = fc.oneof(
    fc.tuple(oneOf(letters, "a"), anyLetter).map(([first, second]) => [`-${first}${second}`]),
    fc.tuple(oneOf(valued, "n"), anyLetter, value).map(([first, second, text]) => [`-${first}${second}`, text]),
    fc.tuple(oneOf(letters, "a"), oneOf(valued, "n"), value).map(([first, second, text]) => [`-${first}${second}`, text]),
    oneOf([...longs, ...longValued], "output").chain((name) =>
      fc.integer({ min: 1, max: name.length }).map((length) => [`--${name.slice(0, length)}`]),
    ),
    anyLetter.map((letter) => [`-${letter}`]),
    dangerous.map((text) => [text]),
    fc.constant(["--"]),
  );

  const flag = fc.oneof(
    ...(letters.length > 0 ? [{ weight: 6, arbitrary: bundle }] : []),
    ...(valued.length > 0
      ? [
          { weight: 3, arbitrary: apart },
          { weight: 2, arbitrary: attached },
        ]
      : []),
    ...(longs.length > 0 ? [{ weight: 3, arbitrary: long }] : []),
    ...(longValued.length > 0 ? [{ weight: 2, arbitrary: longWith }] : []),
    ...(rule.longPairFlags === undefined ? [] : [{ weight: 2, arbitrary: pair }]),
    ...(rule.wordFlags === undefined ? [] : [{ weight: 6, arbitrary: word }]),
    { weight: 2, arbitrary: near },
  );
  return fc
    .tuple(fc.array(flag, { maxLength: 3 }), fc.array(operand, { maxLength: Math.min(rule.maximumOperands ?? 3, 3) }), fc.boolean())
    .map(([flags, operands, isMixed]) =>
      isMixed ? [...operands.slice(0, 1), ...flags.flat(), ...operands.slice(1)] : [...flags.flat(), ...operands],
    );
}
