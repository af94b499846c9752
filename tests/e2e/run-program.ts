import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { once } from "node:events";

export interface ProgramOptions {
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Called for each line of standard output as it comes. */
  readonly onLine?: (line: string, program: { interrupt: () => void }) => void;
  /** Then it is killed; 90 s where it is left out. */
  readonly deadlineMilliseconds?: number;
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly milliseconds: number;
}

const DEADLINE_MILLISECONDS = 90_000;

/** Runs a program as a person would, to its end. */
export async function runProgram(command: string, programArguments: readonly string[], options: ProgramOptions): Promise<Ended> {
  const started = performance.now();
  const child = spawn(command, programArguments, { cwd: options.cwd, env: options.environment, stdio: ["ignore", "pipe", "pipe"] });
  const deadline = setTimeout(() => child.kill("SIGKILL"), options.deadlineMilliseconds ?? DEADLINE_MILLISECONDS);
  let stdout = "";
  let stderr = "";
  createInterface({ input: child.stdout }).on("line", (line) => {
    stdout += `${line}\n`;
    options.onLine?.(line, { interrupt: () => child.kill("SIGINT") });
  });
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (stderr += chunk));
  const [code] = (await once(child, "close")) as [number | null];
  clearTimeout(deadline);
  return { code, stdout, stderr, milliseconds: performance.now() - started };
}
