const CONTROL_C = "\u0003";
const TYPED_BEFORE_MILLISECONDS = 100;

export interface Keyboard {
  setRawMode(raw: boolean): unknown;
  on(event: "data", listener: (data: Buffer) => void): unknown;
  off(event: "data", listener: (data: Buffer) => void): unknown;
  resume(): unknown;
  pause(): unknown;
}

/**
 * Waits for one of these keys, with or without Enter. What was typed before the question was there does not answer it.
 * @returns the key, or undefined when the signal was aborted first
 */
export function readKey(
  keyboard: Keyboard,
  keys: readonly string[],
  signal: AbortSignal,
  onControlC: () => void,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const askedAt = performance.now();
    const onData = (data: Buffer): void => {
      const typed = data.toString("utf8");
      if (typed.includes(CONTROL_C)) return onControlC();
      if (performance.now() - askedAt < TYPED_BEFORE_MILLISECONDS) return;
      const key = typed.trim().toLowerCase();
      if (keys.includes(key)) finish(key);
    };
    const onAbort = (): void => finish(undefined);
    const finish = (key: string | undefined): void => {
      keyboard.off("data", onData);
      signal.removeEventListener("abort", onAbort);
      keyboard.setRawMode(false);
      keyboard.pause();
      resolve(key);
    };
    if (signal.aborted) return resolve(undefined);
    signal.addEventListener("abort", onAbort);
    keyboard.setRawMode(true);
    keyboard.on("data", onData);
    keyboard.resume();
  });
}
