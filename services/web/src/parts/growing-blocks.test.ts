import fc from "fast-check";
import { lexer, type Token } from "marked";
import remend from "remend";
import { expect, it } from "vitest";
import { GrowingBlocks } from "./growing-blocks.ts";

const TEXT = `# Title

First *paragraph* that
goes on.

- one
- two

  with more

\`\`\`ts
const a = 1;

const b = 2;
\`\`\`

| a | b |
|---|---|
| 1 | 2 |

> quoted

Last one, **bold
`;
const shape = (tokens: readonly Token[]): string[] =>
  tokens.filter(({ type }) => type !== "space").map(({ type, raw }) => `${type} ${raw.trim()}`);

it("has at every length the blocks that the whole text has there, and keeps those that are closed", () => {
  const growing = new GrowingBlocks(remend);
  let before: readonly Token[] = [];
  for (let length = 1; length <= TEXT.length; length++) {
    const blocks = growing.blocksOf(TEXT.slice(0, length));
    expect(shape(blocks).slice(0, -1)).toEqual(shape(lexer(TEXT.slice(0, length))).slice(0, -1));
    const kept = before.slice(0, -1).filter((block, at) => blocks[at] !== block);
    expect(kept).toEqual([]);
    before = blocks.slice(0, -1);
  }
});

it("loses nothing of any text, however it comes", () => {
  const pieces = fc.array(
    fc.oneof(
      fc.constantFrom("\n", "\n\n", "```", "- ", "# ", "| a |", "|---|", "> ", "    ", "\t", "**"),
      fc.constantFrom("a", "b1", "word ", "x y", "1. "),
    ),
    {
      maxLength: 30,
    },
  );
  fc.assert(
    fc.property(pieces, (given) => {
      const growing = new GrowingBlocks(remend);
      let text = "";
      for (const piece of given) {
        text += piece;
        growing.blocksOf(text);
      }
      const letters = (tokens: readonly Token[]): string => tokens.map(({ raw }) => raw.replaceAll(/[^\p{L}\p{N}]/gu, "")).join("");
      expect(letters(growing.blocksOf(text))).toBe(text.replaceAll(/[^\p{L}\p{N}]/gu, ""));
    }),
    { numRuns: 500 },
  );
});
