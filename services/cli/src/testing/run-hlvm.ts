import { spawn, type ChildProcess, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { TOKEN } from "./scripted-edge.ts";

const MAIN = fileURLToPath(new URL("../main.ts", import.meta.url));

export interface RunningHlvm {
  readonly child: ChildProcess;
  stdout: string;
  stderr: string;
  /** Resolves when this text has been written to either output. */
  readonly shows: (text: string) => Promise<void>;
  /** The exit code. */
  readonly ended: Promise<number | null>;
}

export interface RunOptions {
  readonly edgeUrl?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly workingDirectory?: string;
  /** Comes through a pipe, which ends with it; without it standard input is empty, or the terminal's. */
  readonly input?: string | Uint8Array;
  /** Standard input is a pipe that stays open and silent. */
  readonly inputIsSilent?: boolean;
  /** On a pseudo-terminal of its own; what it shows is then all in `stdout`. */
  readonly terminal?: boolean;
  /** Standard output goes to a device that is always full. */
  readonly outputIsFull?: boolean;
  /** The working directory is deleted before the command begins. */
  readonly workingDirectoryIsGone?: boolean;
  /** Without root's right to open what its mode forbids. */
  readonly obeysModes?: boolean;
}

const NO_OVERRIDE = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"];

/** The real command as a process of its own, with an HLVM directory of its own. */
export function runHlvm(words: readonly string[], options: RunOptions = {}): RunningHlvm {
  const directory = mkdtempSync(join(tmpdir(), "hlvm-cli-"));
  const obeying = options.obeysModes === true && process.getuid?.() === 0 ? NO_OVERRIDE : [];
  const toFull = options.outputIsFull === true ? ["/bin/sh", "-c", 'exec "$@" >/dev/full', "sh"] : [];
  const leaving =
    options.workingDirectoryIsGone === true ? ["/bin/sh", "-c", 'mkdir gone && cd gone && rmdir ../gone && exec "$@"', "sh"] : [];
  const command = [...leaving, ...toFull, ...obeying, process.execPath, MAIN, ...words];
  const [program, ...rest] = options.terminal === true ? ["script", "-qec", command.map(quoted).join(" "), "/dev/null"] : command;
  const isPipe = options.terminal === true || options.input !== undefined || options.inputIsSilent === true;
  const child = spawn(program!, rest, {
    cwd: options.workingDirectory ?? directory,
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      HOME: directory,
      TERM: "xterm",
      SHELL: "/bin/sh",
      HLVM_DIR: directory,
      ...(options.edgeUrl === undefined ? {} : { HLVM_EDGE_URL: options.edgeUrl, HLVM_TOKEN: TOKEN }),
      ...options.environment,
    },
    stdio: [isPipe ? "pipe" : "ignore", "pipe", "pipe"],
  }) as ChildProcessWithoutNullStreams;
  if (options.input !== undefined) child.stdin.on("error", () => undefined).end(options.input);
  const running: RunningHlvm = {
    child,
    stdout: "",
    stderr: "",
    shows: async (text) => {
      while (!running.stdout.includes(text) && !running.stderr.includes(text)) {
        if (child.exitCode !== null) throw new Error(`ended without showing ${text}: ${running.stdout}${running.stderr}`);
        const heard = new AbortController();
        const { signal } = heard;
        await Promise.race([
          once(child.stdout, "data", { signal }),
          once(child.stderr, "data", { signal }),
          once(child, "close", { signal }),
        ]);
        heard.abort();
      }
    },
    ended: once(child, "close").then(([code]) => {
      rmSync(directory, { recursive: true, force: true });
      return code as number | null;
    }),
  };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (running.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (running.stderr += text));
  return running;
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
