import { posix } from "node:path";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { loadTreeSitterWords } from "../../adapters/parsers/tree-sitter-words.ts";
import { unbashWords } from "../../adapters/parsers/unbash-words.ts";
import { useCommandJudge } from "../../testing/use-command-judge.ts";
import { protectedPart } from "@hlvm/protected-paths/protected-paths";
import { literalWords } from "./literal-words.ts";
import type { WordReader } from "./word-reader.ts";

const { judge, levelOf } = useCommandJudge();
let treeSitterWords: WordReader;
beforeAll(async () => {
  treeSitterWords = await loadTreeSitterWords();
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
      const isOutside = !target.startsWith("/workspace/") || protectedPart(target) !== undefined;
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
