import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import type { Keyboard } from "./read-key.ts";

/** Of a line: terminals hand on no longer ones. */
const MAXIMUM_LENGTH = 16_384;

/**
 * Puts a question and waits for a line, which the terminal itself lets a person edit. What was typed before the question was
 * there is thrown away.
 * @param ask writes the question
 * @returns the line without its end, or undefined when the signal was aborted first
 */
export async function readLine(keyboard: Keyboard, signal: AbortSignal, ask: () => void): Promise<string | undefined> {
  if (signal.aborted) return undefined;
  const answered = Promise.withResolvers<string | undefined>();
  let asked = false;
  let typed = "";
  const onData = (data: Buffer): void => {
    if (!asked) return;
    typed = (typed + data.toString("utf8")).slice(0, MAXIMUM_LENGTH);
    const end = typed.search(/[\r\n]/);
    if (end >= 0) answered.resolve(typed.slice(0, end));
    else if (data.length === 0 || typed.length === MAXIMUM_LENGTH) answered.resolve(typed);
  };
  const onAbort = (): void => answered.resolve(undefined);
  signal.addEventListener("abort", onAbort);
  keyboard.on("data", onData);
  keyboard.setRawMode(false);
  keyboard.resume();
  try {
    // What waits in the terminal comes when the event loop next looks at it.
    await turnOfTheLoop();
    await turnOfTheLoop();
    if (!signal.aborted) ask();
    asked = true;
    return await answered.promise;
  } finally {
    keyboard.off("data", onData);
    signal.removeEventListener("abort", onAbort);
    keyboard.pause();
  }
}
