import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { CliConfig } from "../config.ts";
import { HLVM_PROGRAM } from "../hook/hook-call.ts";
import { hasSourceBook, openSourceBook } from "./open-source-book.ts";

const LOOK_MILLISECONDS = 5_000;
const MOST_DOUBLINGS = 7;
const STOP_MILLISECONDS = 3_000;

/**
 * Has the sources that are watched scanned when it is time, by a process of its own each time, whatever it finds in their files.
 * Ends with the signal, and that process with it; the next scan goes on.
 */
export async function watchSources(config: CliConfig, signal: AbortSignal): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    if (isAnyDue(config)) failures = (await scanDue(signal)) === 0 ? 0 : failures + 1;
    await sleep(LOOK_MILLISECONDS * 2 ** Math.min(failures, MOST_DOUBLINGS), undefined, { signal }).catch(() => undefined);
  }
}

/** A book that cannot be read now may be later. */
function isAnyDue(config: CliConfig): boolean {
  try {
    if (!hasSourceBook(config)) return false;
    using book = openSourceBook(config);
    return book.due(Date.now()).length > 0;
  } catch {
    return false;
  }
}

/** @returns the exit code */
async function scanDue(signal: AbortSignal): Promise<number> {
  const scan = spawn(HLVM_PROGRAM, ["memory", "source", "scan", "--due"], { stdio: "ignore" });
  const ended = once(scan, "exit").then(
    ([code]) => (code as number | null) ?? 1,
    () => 1,
  );
  const stop = (): void => {
    scan.kill("SIGTERM");
    setTimeout(() => scan.kill("SIGKILL"), STOP_MILLISECONDS).unref();
  };
  signal.addEventListener("abort", stop, { once: true });
  const code = await ended;
  signal.removeEventListener("abort", stop);
  return code;
}
