import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import type { Key } from "./key-decoder.ts";
import type { TerminalInput } from "./terminal-input.ts";

/**
 * Puts a question and waits for one of these keys, with or without Enter. What was typed before the question was there
 * does not answer it: that is read and thrown away first.
 * @param keys letters, or `space`, `enter`, `down`
 * @param ask writes the question
 * @returns the key, or undefined when the signal was aborted first; the question may not have been put then
 */
export async function readKey(
  input: TerminalInput,
  keys: readonly string[],
  signal: AbortSignal,
  ask: () => void,
): Promise<string | undefined> {
  if (signal.aborted) return undefined;
  const answered = Promise.withResolvers<string | undefined>();
  let asked = false;
  const onKey = (key: Key): void => {
    const name = nameOf(key);
    if (asked && keys.includes(name)) answered.resolve(name);
  };
  const onAbort = (): void => answered.resolve(undefined);
  signal.addEventListener("abort", onAbort);
  using _ = input.read({ key: onKey });
  try {
    await drained();
    if (!signal.aborted) ask();
    asked = true;
    return await answered.promise;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** A word that was typed, or pasted text, is no key. */
function nameOf({ name, text }: Key): string {
  if (name !== "text") return name;
  return text === " " ? "space" : text.toLowerCase();
}

/**
 * What waits in the terminal comes when the event loop next looks at it. The turn that is under way may have looked
 * already; the one after it has not.
 */
async function drained(): Promise<void> {
  await turnOfTheLoop();
  await turnOfTheLoop();
}
