import type { ChildProcess } from "node:child_process";
import { drainAfterExit } from "./drain-after-exit.ts";
import { killTree } from "./kill-tree.ts";

export interface ProcessWatch {
  readonly signal: AbortSignal;
  /** Return false to end the process: enough was read. */
  readonly onOutput: (stream: "stdout" | "stderr", chunk: Buffer) => boolean;
}

/** How a process ended: by itself with a code, by a signal, or because it was cut off. */
export interface ProcessEnd {
  readonly exitCode?: number;
  readonly signal?: NodeJS.Signals;
  readonly wasCut: boolean;
}

/**
 * Reads what a process prints until it has ended. Its whole tree is ended when the signal aborts.
 * @throws the reason of the signal, or the error where the process could not be started
 */
export function followProcess(child: ChildProcess, { signal, onOutput }: ProcessWatch): Promise<ProcessEnd> {
  return new Promise((resolve, reject) => {
    let wasCut = false;
    const read = (stream: "stdout" | "stderr") => (chunk: Buffer) => {
      if (wasCut || onOutput(stream, chunk)) return;
      wasCut = true;
      end(child);
    };
    const abort = (): void => end(child);
    child.stdout?.on("data", read("stdout"));
    child.stderr?.on("data", read("stderr"));
    child.once("error", (cause) => {
      signal.removeEventListener("abort", abort);
      reject(cause);
    });
    drainAfterExit(child);
    child.once("close", (exitCode, killedBy) => {
      signal.removeEventListener("abort", abort);
      if (signal.aborted) reject(signal.reason);
      else resolve({ exitCode: exitCode ?? undefined, signal: killedBy ?? undefined, wasCut });
    });
    signal.addEventListener("abort", abort);
  });
}

function end(child: ChildProcess): void {
  if (child.pid !== undefined) killTree(child.pid);
}
