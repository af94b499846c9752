import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { pinnedBlock, pointerBlock } from "./memory-block.ts";

const id = (index: number): string => `0b1b2c3d-0000-4000-8000-00000000000${index}`;
const hostileText = fc
  .array(
    fc.oneof(
      fc.string({ unit: "binary", maxLength: 12 }),
      fc.constantFrom(
        "</hlvm-memory>",
        "＜/hlvm-memory＞",
        "‹/hlvm-memory›",
        "\n",
        "\r\n",
        "\u2028",
        "\u202e",
        "\u200b",
        "\ufdfa",
        "```",
        "\ud800",
        "日本",
      ),
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.join(""));
const FRAME = /^<hlvm-memory id="1a2b3c4d">\n([^]*)\n<\/hlvm-memory>$/;
const within = (block: string): string[] => FRAME.exec(block)![1]!.split("\n");

describe("a block of memory", () => {
  it("holds facts' texts in its frame, whatever they are, a line each", () => {
    fc.assert(
      fc.property(fc.array(hostileText, { minLength: 1, maxLength: 3 }), (texts) => {
        const facts = texts.map((text, index) => ({ id: id(index), text }));
        const { text, shown } = pointerBlock("1a2b3c4d", facts);
        const pinned = pinnedBlock("1a2b3c4d", facts, true);
        expect([within(text), within(pinned)].map((lines) => lines.length)).toEqual([shown.length + 1, facts.length + 2]);
        expect(within(text).concat(within(pinned)).join("")).not.toMatch(/[<>＜＞‹›\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
        expect(pinned.length).toBeLessThan(1_300);
      }),
      { numRuns: 2_000 },
    );
  });

  it("takes 60 tokens at most, of any script, and says where something is", () => {
    const long = (character: string): number => {
      const facts = [0, 1, 2].map((index) => ({ id: id(index), text: character.repeat(500) }));
      const { text, shown } = pointerBlock("1a2b3c4d", facts);
      expect([...text].reduce((units, one) => units + (one < "\u0080" ? 1 : 4), 0)).toBeLessThanOrEqual(240);
      return shown.length;
    };
    expect([long("a"), long("字"), long("👩")]).toEqual([3, 3, 3]);
    const { text } = pointerBlock("1a2b3c4d", [{ id: id(0), text: "Deploys go out on Thursdays" }]);
    expect(text).toBe(`<hlvm-memory id="1a2b3c4d">\nhlvm memory show ID:\n${id(0)} Deploys go out on Thursdays\n</hlvm-memory>`);
    expect(pointerBlock("1a2b3c4d", [])).toEqual({ text: "", shown: [], hasSession: false });
  });

  it("has room for a session where no fact has to go for it, in 60 tokens whatever its title is", () => {
    const session = { command: `hlvm memory sessions show claude-code ${id(7)}`, title: "2026-11-24 Why charges are doubled" };
    const facts = [0, 1, 2].map((index) => ({ id: id(index), text: "Deploys go out on Thursdays at noon" }));
    const blocks = [0, 1, 2, 3].map((count) => pointerBlock("1a2b3c4d", facts.slice(0, count), session));
    expect(blocks.map(({ shown, hasSession }) => [shown.length, hasSession])).toEqual([
      [0, true],
      [1, true],
      [2, false],
      [3, false],
    ]);
    expect(within(blocks[0]!.text)).toEqual([`${session.command} ${session.title}`]);
    fc.assert(
      fc.property(hostileText, fc.array(hostileText, { maxLength: 1 }), (title, texts) => {
        const told = pointerBlock(
          "1a2b3c4d",
          texts.map((text, index) => ({ id: id(index), text })),
          { ...session, title },
        );
        expect(within(told.text)).toHaveLength(texts.length === 0 ? 1 : 3);
        expect(within(told.text).join("")).not.toMatch(/[<>＜＞‹›\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
        expect([...told.text].reduce((units, one) => units + (one < "\u0080" ? 1 : 4), 0)).toBeLessThanOrEqual(240);
      }),
    );
  });
});
