import { EventEmitter, once } from "node:events";
import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { beforeEach, describe, expect, it } from "vitest";
import { TerminalInput } from "../terminal/terminal-input.ts";
import { TestKeyboard } from "../testing/test-keyboard.ts";
import { ACTION_CHOICE, putQuestion, type Question, type QuestionScreen } from "./put-question.ts";
import type { Page } from "./question-pages.ts";

const pageOf = (text: string): Page => [[{ text, tone: "plain" }]];

describe("putQuestion", () => {
  let keyboard: TestKeyboard;
  let shown: string[];
  let screen: EventEmitter & QuestionScreen;
  let withdrawn: AbortController;

  beforeEach(() => {
    keyboard = new TestKeyboard();
    shown = [];
    withdrawn = new AbortController();
    screen = Object.assign(new EventEmitter(), {
      page: (rows: Page) => void shown.push(rows[0]![0]!.text),
      below: (text: string) => {
        shown.push(text);
        screen.emit("below");
      },
    });
  });

  const put = (pages: readonly string[], more: Partial<Question> = {}) =>
    putQuestion(
      { pages: pages.map(pageOf), isTooLong: false, choice: ACTION_CHOICE, ...more },
      screen,
      new TerminalInput(keyboard, { write: () => {}, onControlC: () => {} }),
      withdrawn.signal,
    );

  /** Types a key and waits for what is said to it. */
  async function type(key: string): Promise<void> {
    const said = once(screen, "below");
    keyboard.type(key);
    await said;
  }

  it("takes y at once where all is on one page", async () => {
    const answer = put(["all"]);
    await once(screen, "below");
    keyboard.type("y");
    expect(await answer).toBe("y");
    expect(shown).toEqual(["all", "Allow it? y / n / a (always for this session)"]);
  });

  it.each(["y", "a"])("takes %s only when the last page was shown", async (key) => {
    const answer = put(["one", "two", "three"]);
    await once(screen, "below");
    await type(key);
    expect(shown.at(-1)).toContain("the rest has to be seen first");
    await type(" ");
    await type(key);
    await type("\u001b[B");
    expect(shown.filter((text) => ["one", "two", "three"].includes(text))).toEqual(["one", "two", "three"]);
    keyboard.type(key);
    expect(await answer).toBe(key);
  });

  it.each(["n", "q"])("takes %s for a no on every page", async (key) => {
    const answer = put(["one", "two"]);
    await once(screen, "below");
    keyboard.type(key);
    expect(await answer).toBe("n");
    expect(shown).not.toContain("two");
  });

  it("says it once that a yes came too early: a key that is held down does not move the page off the screen", async () => {
    const answer = put(["one", "two"]);
    await once(screen, "below");
    await type("y");
    for (let times = 0; times < 10; times += 1) {
      keyboard.type("y");
      // As long as it takes to listen for the next key.
      for (let turns = 0; turns < 5; turns += 1) await turnOfTheLoop();
    }
    await type("\r");
    expect(shown.filter((text) => text.includes("has to be seen"))).toHaveLength(1);
    keyboard.type("n");
    expect(await answer).toBe("n");
  });

  it("does not take for a yes what was typed before the last page was shown", async () => {
    const answer = put(["one", "two"]);
    await once(screen, "below");
    const next = once(screen, "below");
    keyboard.type(" ");
    keyboard.type("y");
    await next;
    keyboard.type("n");
    expect(await answer).toBe("n");
  });

  it("takes no yes where some of it could not be shown", async () => {
    const answer = put(["one"], { isTooLong: true });
    await once(screen, "below");
    expect(shown.at(-1)).not.toContain("y / n / a");
    await type("y");
    expect(shown.at(-1)).toBe("It cannot be allowed from here.");
    keyboard.type("n");
    expect(await answer).toBe("n");
  });

  it("comes back without an answer when the question is withdrawn", async () => {
    const answer = put(["one", "two"]);
    await once(screen, "below");
    withdrawn.abort();
    expect(await answer).toBeUndefined();
  });
});
