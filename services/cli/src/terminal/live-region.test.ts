import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TestTerminal } from "../testing/test-terminal.ts";
import { LiveRegion, type RegionContent } from "./live-region.ts";

const typed = (before: string, after = ""): RegionContent => ({ before, after, placeholder: "say something", footer: "Ctrl-C cancels" });

function regionOn(terminal: TestTerminal): { region: LiveRegion; print: (text: string) => void } {
  const region = new LiveRegion({
    get columns() {
      return terminal.columns;
    },
    colour: false,
    write: (text) => terminal.write(text),
    onResize: () => () => {},
  });
  return { region, print: (text) => region.print(text, (written) => terminal.write(written)) };
}

describe("LiveRegion", () => {
  it("stands below output that comes piece by piece, in a line that wraps, and loses nothing of it", async () => {
    const terminal = new TestTerminal(40, 8);
    const { region, print } = regionOn(terminal);
    region.show(typed("use the other"));
    const words = Array.from({ length: 60 }, (_, index) => `word${index} `);
    for (const word of words) print(word);
    print("\nnext\nlast");
    expect(await terminal.lines()).toEqual([words.join(""), "next", "last", "› use the other", "Ctrl-C cancels"]);
    expect(await terminal.beforeCursor()).toBe("› use the other");
    for (const cleared of ["\u001b[2J", "\u001b[3J"]) expect(terminal.bytes).not.toContain(cleared);
    region.hide();
    expect((await terminal.lines()).slice(-1)).toEqual(["last"]);
  });

  it("keeps the cursor where it is typed, among wide characters too, and shows the part of a long text around it", async () => {
    const terminal = new TestTerminal(24, 8);
    const { region } = regionOn(terminal);
    region.show(typed("日本語で", "答えて"));
    expect(await terminal.lines()).toEqual(["› 日本語で答えて", "Ctrl-C cancels"]);
    expect(await terminal.beforeCursor()).toBe("› 日本語で");
    region.show(typed("日本語".repeat(30), "end"));
    expect(await terminal.beforeCursor()).toMatch(/^› ….*日本語$/);
    expect(await terminal.lines()).toEqual([expect.stringMatching(/日本語end$/), "Ctrl-C cancels"]);
    region.show(typed("", "x".repeat(100)));
    expect(await terminal.beforeCursor()).toBe("› ");
  });

  it("keeps every character of any output in its place, whatever the sizes of its pieces and of the terminal", async () => {
    const piece = fc.oneof(
      fc.constantFrom("\n", "日本", "é", "👩‍👩‍👧", "\t", "–", "“so”"),
      fc.string({ unit: fc.constantFrom("a", "b", " ", "ä"), maxLength: 30 }),
    );
    const cases = fc.record({ columns: fc.integer({ min: 12, max: 90 }), pieces: fc.array(piece, { maxLength: 40 }) });
    await fc.assert(
      fc.asyncProperty(cases, async ({ columns, pieces }) => {
        const terminal = new TestTerminal(columns, 10);
        const { region, print } = regionOn(terminal);
        region.show(typed("draft"));
        for (const text of pieces) print(text);
        region.hide();
        const shown = (await terminal.lines()).join("").replace(/\s/g, "");
        expect(shown).toBe(pieces.join("").replace(/\s/g, ""));
      }),
      { numRuns: 200 },
    );
  });

  it("leaves nothing behind of itself, and takes no output with it, when the terminal gets narrower and wider", async () => {
    const terminal = new TestTerminal(60, 10);
    const { region, print } = regionOn(terminal);
    print("before\nan open line of the answer ");
    region.show(typed("a draft that is quite long, so that it has to be cut"));
    for (const columns of [40, 25, 60, 33]) {
      await terminal.resize(columns);
      region.show(typed("a draft that is quite long, so that it has to be cut"));
    }
    print("and more of it");
    const lines = await terminal.lines();
    expect(lines.slice(0, 3).map((line) => line.trimEnd())).toEqual(["before", "an open line of the answer", "and more of it"]);
    expect(lines.slice(3)).toEqual([expect.stringMatching(/^› ….*to be cut$/), "Ctrl-C cancels"]);
  });

  it("draws only the last row again where only that changes", async () => {
    const terminal = new TestTerminal(40, 8);
    const { region } = regionOn(terminal);
    region.show({ ...typed("draft"), footer: "⠋ thinking" });
    terminal.bytes = "";
    region.show({ ...typed("draft"), footer: "⠙ done" });
    expect(terminal.bytes).not.toContain("\u001b[J");
    expect(await terminal.lines()).toEqual(["› draft", "⠙ done"]);
    expect(await terminal.beforeCursor()).toBe("› draft");
  });

  it("lets nothing that was pasted act on the terminal", () => {
    const terminal = new TestTerminal(60, 8);
    regionOn(terminal).region.show(typed("\u001b]52;c;cm0gLXJm\u0007\u001b[2Jtwo\nlines\u202e"));
    expect(terminal.bytes).toContain("› ␛]52;c;cm0gLXJm␇␛[2Jtwo⏎lines<U+202E>");
    expect(terminal.bytes).not.toContain("\u001b]52");
  });
});
