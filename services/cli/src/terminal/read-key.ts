import { setImmediate as turnOfTheLoop } from "node:timers/promises";

/** Keys that are no letter. */
const NAMES: Readonly<Record<string, string>> = {
  " ": "space",
  "\r": "enter",
  "\n": "enter",
  "\u001b[B": "down",
  "\u001bOB": "down",
  "\u001b[6~": "down",
};
const CONTROL_C = "\u0003";

export interface Keyboard {
  setRawMode(raw: boolean): unknown;
  on(event: "data", listener: (data: Buffer) => void): unknown;
  off(event: "data", listener: (data: Buffer) => void): unknown;
  resume(): unknown;
  pause(): unknown;
}

/**
 * Puts a question and waits for one of these keys, with or without Enter. What was typed before the question was there
 * does not answer it: that is read and thrown away first.
 * @param keys letters, or `space`, `enter`, `down`
 * @param ask writes the question
 * @returns the key, or undefined when the signal was aborted first; the question may not have been put then
 */
export async function readKey(
  keyboard: Keyboard,
  keys: readonly string[],
  signal: AbortSignal,
  ask: () => void,
  onControlC: () => void,
): Promise<string | undefined> {
  if (signal.aborted) return undefined;
  const answered = Promise.withResolvers<string | undefined>();
  let asked = false;
  const onData = (data: Buffer): void => {
    const typed = data.toString("utf8");
    if (typed.includes(CONTROL_C)) return onControlC();
    const key = NAMES[typed] ?? typed.trim().toLowerCase();
    if (asked && keys.includes(key)) answered.resolve(key);
  };
  const onAbort = (): void => answered.resolve(undefined);
  signal.addEventListener("abort", onAbort);
  keyboard.on("data", onData);
  keyboard.setRawMode(true);
  keyboard.resume();
  try {
    await drained();
    if (!signal.aborted) ask();
    asked = true;
    return await answered.promise;
  } finally {
    keyboard.off("data", onData);
    signal.removeEventListener("abort", onAbort);
    keyboard.setRawMode(false);
    keyboard.pause();
  }
}

/**
 * What waits in the terminal comes when the event loop next looks at it. The turn that is under way may have looked
 * already; the one after it has not.
 */
async function drained(): Promise<void> {
  await turnOfTheLoop();
  await turnOfTheLoop();
}
