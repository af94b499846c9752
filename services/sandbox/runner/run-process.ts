import { spawn } from "node:child_process";
import { setTimeout as wait } from "node:timers/promises";
import { followProcess, type ProcessEnd, type ProcessWatch } from "./follow-process.ts";
import { runningCalls } from "./running-calls.ts";
import { sweepProcesses } from "./sweep-processes.ts";
import { ToolFailure } from "./tool.ts";

const PAUSE_AFTER_SWEEP_MILLISECONDS = 50;

export interface ProcessRequest extends ProcessWatch {
  readonly command: string;
  readonly arguments: readonly string[];
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
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
    if (runningCalls.size > 1) throw noProcessLeft(thrown);
    // What earlier calls left behind uses up the process limit; without this nothing could run in the session again.
    sweepProcesses();
    await wait(PAUSE_AFTER_SWEEP_MILLISECONDS);
    return attempt(request).catch((cause: unknown) => {
      throw isOutOfProcesses(cause) ? noProcessLeft(cause) : cause;
    });
  }
}

function attempt(request: ProcessRequest): Promise<ProcessEnd> {
  const child = spawn(request.command, request.arguments, {
    cwd: request.directory,
    env: request.environment,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  return followProcess(child, request);
}

function noProcessLeft(cause: unknown): ToolFailure {
  return new ToolFailure("unavailable", "The sandbox has no process left to run this in. Try again.", cause);
}

function isOutOfProcesses(thrown: unknown): boolean {
  return (thrown as NodeJS.ErrnoException).code === "EAGAIN";
}
