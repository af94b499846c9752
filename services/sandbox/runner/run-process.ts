import { spawn, type ChildProcess } from "node:child_process";
import { setTimeout as wait } from "node:timers/promises";
import { killTree } from "./kill-tree.ts";
import { ToolFailure } from "./tool.ts";

/** How long a pipe may stay open after its process has ended: a daemon that was left behind holds it. */
const DRAIN_MILLISECONDS = 50;
const PAUSE_AFTER_SWEEP_MILLISECONDS = 50;

export interface ProcessRequest {
  readonly command: string;
  readonly arguments: readonly string[];
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
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
 * Runs a program without a shell and reads what it prints. Its whole tree is ended when the signal aborts.
 * @throws ToolFailure `unavailable` where it cannot be started, or the reason of the signal
 */
export async function runProcess(request: ProcessRequest): Promise<ProcessEnd> {
  request.signal.throwIfAborted();
  try {
    return await attempt(request);
  } catch (thrown) {
    if (!isOutOfProcesses(thrown)) throw thrown;
    // What earlier calls left behind uses up the process limit; without this nothing could run in the session again.
    process.kill(-1, "SIGKILL");
    await wait(PAUSE_AFTER_SWEEP_MILLISECONDS);
    return attempt(request).catch((cause: unknown) => {
      if (!isOutOfProcesses(cause)) throw cause;
      throw new ToolFailure("unavailable", "The sandbox has no process left to run this in. Try again.", cause);
    });
  }
}

function attempt(request: ProcessRequest): Promise<ProcessEnd> {
  return new Promise((resolve, reject) => {
    const child = spawn(request.command, request.arguments, {
      cwd: request.directory,
      env: request.environment,
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    let wasCut = false;
    const read = (stream: "stdout" | "stderr") => (chunk: Buffer) => {
      if (wasCut || request.onOutput(stream, chunk)) return;
      wasCut = true;
      end(child);
    };
    const abort = (): void => end(child);
    child.stdout.on("data", read("stdout"));
    child.stderr.on("data", read("stderr"));
    child.once("error", (cause) => {
      request.signal.removeEventListener("abort", abort);
      reject(cause);
    });
    child.once("exit", () => setTimeout(() => letGo(child), DRAIN_MILLISECONDS));
    child.once("close", (exitCode, signal) => {
      request.signal.removeEventListener("abort", abort);
      if (request.signal.aborted) reject(request.signal.reason);
      else resolve({ exitCode: exitCode ?? undefined, signal: signal ?? undefined, wasCut });
    });
    request.signal.addEventListener("abort", abort);
  });
}

function end(child: ChildProcess): void {
  if (child.pid !== undefined) killTree(child.pid);
}

function letGo(child: ChildProcess): void {
  child.stdout?.destroy();
  child.stderr?.destroy();
}

function isOutOfProcesses(thrown: unknown): boolean {
  return (thrown as NodeJS.ErrnoException).code === "EAGAIN";
}
