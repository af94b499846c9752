import { beforeEach, describe, expect, it, vi } from "vitest";
import { TestKeyboard } from "../testing/test-keyboard.ts";
import type { RegionContent } from "./live-region.ts";
import { readLine } from "./read-line.ts";
import { TerminalInput } from "./terminal-input.ts";

describe("readLine", () => {
  let keyboard: TestKeyboard;
  let input: TerminalInput;
  let shown: string[];
  const row = {
    show: ({ before, after }: RegionContent) => void shown.push(`${before}|${after}`),
    end: (text: string) => void shown.push(`ended ${text}`),
  };
  const never = new AbortController().signal;

  beforeEach(() => {
    keyboard = new TestKeyboard();
    input = new TerminalInput(keyboard, { write: () => {}, onControlC: () => {} });
    shown = [];
  });

  const isReady = () => vi.waitFor(() => expect(shown).toEqual(["|"]));

  it("takes what is typed up to Enter, edited, once it is shown that keys count", async () => {
    const line = readLine(input, row, never);
    keyboard.type("too early\r");
    await isReady();
    keyboard.type("no");
    keyboard.type("\u001b[D");
    keyboard.type("\u007fg\r");
    expect(await line).toBe("go");
    expect(shown.at(-1)).toBe("ended go");
    expect(keyboard.raw).toBe(false);
  });

  it("takes pasted lines for one answer", async () => {
    const line = readLine(input, row, never);
    await isReady();
    keyboard.type("\u001b[200~one\r\ntwo\r\n\u001b[201~\r");
    expect(await line).toBe("one\ntwo\n");
  });

  it("comes back without one when the question is withdrawn, before and after it could be answered", async () => {
    const early = new AbortController();
    const unseen = readLine(input, row, early.signal);
    early.abort();
    expect(await unseen).toBeUndefined();
    expect(shown).toEqual([]);
    const late = new AbortController();
    const seen = readLine(input, row, late.signal);
    await isReady();
    keyboard.type("half");
    late.abort();
    expect(await seen).toBeUndefined();
    expect(keyboard).toMatchObject({ raw: false, flowing: false });
  });
});
