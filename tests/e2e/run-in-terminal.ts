import { spawn } from "node:child_process";
import { once } from "node:events";

/** Keys that are typed when something else shows up, without Enter behind them. */
export interface Typed {
  readonly prompt: RegExp;
  readonly keys: string;
}

export interface TerminalOptions {
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Each time this shows up on the screen the next answer is typed. */
  readonly prompt: RegExp;
  readonly answers: readonly (string | Typed)[];
  /** Called each time when it shows up. */
  readonly onPrompt?: () => void;
}

const DEADLINE_MILLISECONDS = 60_000;

/** Of the terminal, as of the smallest one that people use. */
export const ROWS = 24;
export const COLUMNS = 80;

/** Runs a program on a pseudo-terminal (util-linux's `script`) of 24 rows by 80 columns, and types answers at its prompts. */
export async function runInTerminal(
  command: string,
  programArguments: readonly string[],
  options: TerminalOptions,
): Promise<{ screen: string; code: number | null }> {
  const line = [command, ...programArguments].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
  const child = spawn("script", ["-qefc", `stty rows ${ROWS} cols ${COLUMNS} && exec ${line}`, "/dev/null"], {
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
    const [next] = answers;
    const { prompt, keys } = typeof next === "object" ? next : { prompt: options.prompt, keys: `${next}\r` };
    if (!prompt.test(unread)) return;
    unread = "";
    options.onPrompt?.();
    if (answers.shift() !== undefined) child.stdin.write(keys);
  });
  const [code] = (await once(child, "close")) as [number | null];
  clearTimeout(deadline);
  return { screen, code };
}
