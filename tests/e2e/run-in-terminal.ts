import { spawn } from "node:child_process";
import { once } from "node:events";

export interface TerminalOptions {
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Each time this shows up on the screen the next answer is typed. */
  readonly prompt: RegExp;
  readonly answers: readonly string[];
}

const DEADLINE_MILLISECONDS = 60_000;

/** Runs a program on a pseudo-terminal (util-linux's `script`) and types answers at its prompts. */
export async function runInTerminal(
  command: string,
  programArguments: readonly string[],
  options: TerminalOptions,
): Promise<{ screen: string; code: number | null }> {
  const line = [command, ...programArguments].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
  const child = spawn("script", ["-qefc", line, "/dev/null"], {
    cwd: options.cwd,
    env: { ...options.environment, TERM: "xterm" },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const deadline = setTimeout(() => child.kill("SIGKILL"), DEADLINE_MILLISECONDS);
  const answers = [...options.answers];
  let screen = "";
  let unread = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    screen += chunk;
    unread += chunk;
    if (answers.length === 0 || !options.prompt.test(unread)) return;
    unread = "";
    child.stdin.write(`${answers.shift()!}\r`);
  });
  const [code] = (await once(child, "close")) as [number | null];
  clearTimeout(deadline);
  return { screen, code };
}
