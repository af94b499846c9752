import { ToolFailure } from "./tool.ts";

export interface ProcessRequest {
  readonly command: string;
  readonly arguments: readonly string[];
  readonly directory: string;
  readonly signal: AbortSignal;
  /** Return false to end the process: enough was read. */
  readonly onOutput: (stream: "stdout" | "stderr", chunk: Buffer) => boolean;
}

/** How a process ended: by itself with a code, or because it was cut off. */
export interface ProcessEnd {
  readonly exitCode?: number;
  readonly wasCut: boolean;
}

/**
 * Runs a program of ours, which starts no others, and reads what it prints.
 * @throws ToolFailure `unavailable` where it cannot be started, or the reason of the signal
 */
export function runProcess({ command, arguments: words, directory, signal, onOutput }: ProcessRequest): Promise<ProcessEnd> {
  signal.throwIfAborted();
  // Loaded with the first use: a runner is up sooner without it.
  const { spawn } = process.getBuiltinModule("node:child_process");
  return new Promise((resolve, reject) => {
    const child = spawn(command, words, { cwd: directory, env: { LANG: "C.UTF-8" }, stdio: ["ignore", "pipe", "pipe"] });
    let wasCut = false;
    const end = (): void => void child.kill("SIGKILL");
    const read = (stream: "stdout" | "stderr") => (chunk: Buffer) => {
      if (wasCut || onOutput(stream, chunk)) return;
      wasCut = true;
      end();
    };
    child.stdout.on("data", read("stdout"));
    child.stderr.on("data", read("stderr"));
    child.once("error", (cause: NodeJS.ErrnoException) => {
      signal.removeEventListener("abort", end);
      reject(
        cause.code === "EAGAIN"
          ? new ToolFailure("unavailable", "The sandbox has no process left to run this in. Try again.", cause)
          : cause,
      );
    });
    child.once("close", (exitCode) => {
      signal.removeEventListener("abort", end);
      if (signal.aborted) reject(signal.reason);
      else resolve({ exitCode: exitCode ?? undefined, wasCut });
    });
    signal.addEventListener("abort", end);
  });
}
