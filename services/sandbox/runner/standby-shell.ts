import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { toolEnvironment } from "./tool-environment.ts";
import { WORKSPACE } from "./workspace-path.ts";

export const SHELL = "/bin/sh";
/** The shell's own `read` takes a byte at a time; a longer command is sooner started in a shell of its own. */
const LONGEST_COMMAND_BYTES = 1_000;
/**
 * Reads how many line feeds the command has, then its lines, each as it is, and runs that with nothing more to read and
 * nothing left of the reading. It does not wait for the end of its input, which would wake it once more; of a command that
 * breaks off it runs nothing.
 */
const AWAIT_COMMAND = `IFS= read -r feeds || exit
while [ "$feeds" -gt 0 ]; do IFS= read -r line || exit; command="$command$line
"; feeds=$((feeds - 1)); done
IFS= read -r line || exit
exec </dev/null
eval "unset command line feeds; $command$line"`;

let waiting: ChildProcess | undefined;

/**
 * A shell that is started before its command is known. Starting a process from Node takes 2 to 4 ms, longer than most
 * commands; here that happens while the model thinks. Each shell runs one command and ends, as any other does.
 */
export const standbyShell = {
  /** Has a shell waiting, in the workspace's top folder. Where none can be started, the next command starts its own. */
  prepare(): void {
    waiting ??= start();
  },

  /** The one that waits is about to be ended. */
  forget(): void {
    waiting = undefined;
  },

  /** @returns the shell that runs the command from now on; undefined where none waits or the command is not for it */
  take(command: string): ChildProcess | undefined {
    const shell = waiting;
    if (shell === undefined || command.includes("\0") || Buffer.byteLength(command) > LONGEST_COMMAND_BYTES) return undefined;
    if (!isAtRest(shell.pid)) return undefined;
    waiting = undefined;
    const feeds = command.split("\n").length - 1;
    shell.stdin!.end(`${feeds}\n${command}\n`);
    return shell;
  },
};

/** It waits for its input, and no signal is on its way: a shell that an earlier command is ending would not run this one. */
function isAtRest(processId: number | undefined): boolean {
  try {
    const status = readFileSync(`/proc/${processId}/status`, "latin1");
    return /^State:\tS/m.test(status) && /^SigPnd:\t0+$/m.test(status) && /^ShdPnd:\t0+$/m.test(status);
  } catch {
    return false;
  }
}

function start(): ChildProcess | undefined {
  let shell: ChildProcess;
  try {
    shell = spawn(SHELL, ["-c", AWAIT_COMMAND], {
      cwd: WORKSPACE,
      env: { ...toolEnvironment, PWD: WORKSPACE },
      stdio: "pipe",
      detached: true,
    });
  } catch {
    return undefined;
  }
  const forget = (): void => {
    if (waiting === shell) waiting = undefined;
  };
  shell.once("error", forget);
  shell.once("exit", forget);
  // Without descriptors left it has no pipes, and says why in a moment.
  shell.stdin?.on("error", forget);
  return shell.stdin === null || shell.stdin === undefined ? undefined : shell;
}
