import { spawn, type ChildProcess } from "node:child_process";
import { constants, readdirSync, readFileSync } from "node:fs";
import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { drainAfterExit } from "./drain-after-exit.ts";
import type { ProcessEnd, ProcessWatch } from "./follow-process.ts";
import { killTree } from "./kill-tree.ts";
import { toolEnvironment } from "./tool-environment.ts";
import { WORKSPACE } from "./workspace-path.ts";

export const SHELL = "/bin/sh";
/** The shell's own `read` takes a byte at a time; a longer command is sooner started in a shell of its own. */
const LONGEST_COMMAND_BYTES = 1_000;
const EXIT_CODES = 3;
/**
 * Reads how many line feeds the next command has, then its lines, each as it is, and runs that in a fork of itself, with
 * nothing to read and nothing left of the reading. Of a command that breaks off it runs nothing. What it has to say itself
 * (that it cannot fork, that its fork was killed) is not the command's, and goes nowhere.
 */
const SERVE_COMMANDS = `exec 4>&2 2>/dev/null
while IFS= read -r feeds; do
command=
while [ "$feeds" -gt 0 ]; do IFS= read -r line || exit; command="$command$line
"; feeds=$((feeds - 1)); done
IFS= read -r line || exit
(exec </dev/null 2>&4 4>&- ${EXIT_CODES}>&-; eval "unset command line feeds; $command$line")
echo "$?" >&${EXIT_CODES}
done`;
/** Where the shell holds what commands get as standard output and standard error. */
const OUTPUTS = [1, 4];
const O_ASYNC = 0o20000;
/** What means the shell itself, and not its fork: its number and what can be done by that, its traps, loops, lines and seconds. */
const OF_THE_SHELL_ITSELF = /\$(?:\$|\{[#!]?\$)|\b(?:break|continue|trap|eval|source|renice|LINENO|SECONDS)\b|(?:^|[\s;&|(){}])\.\s/;
/** Those that are always there: the sandbox's init process, this one, and the shell. */
const PROCESSES_AT_REST = new Set(["1", String(process.pid)]);

interface Command extends ProcessWatch {
  readonly resolve: (end: ProcessEnd | undefined) => void;
  readonly reject: (reason: unknown) => void;
  exitCode: number | undefined;
  wasCut: boolean;
}

/**
 * A shell that stays and forks for each command. To start one from Node takes 2 to 4 ms, longer than most commands, and
 * to fork a shell a fraction of that. It serves one command at a time, and only for as long as commands leave nothing behind: neither
 * processes, which could print into the next command's output, nor that output itself in another state.
 */
export class ResidentShell {
  readonly #process: ChildProcess;
  #command: Command | undefined;
  #pieces = 0;
  #isLeaving = false;

  /** @throws Error where no process can be started */
  constructor() {
    this.#process = spawn(SHELL, ["-c", SERVE_COMMANDS], {
      cwd: WORKSPACE,
      env: { ...toolEnvironment, PWD: WORKSPACE },
      stdio: ["pipe", "pipe", "pipe", "pipe"],
      detached: true,
    });
    const { stdin, stdout, stderr, stdio } = this.#process;
    // A shell for which no descriptors were left has no pipes.
    if (stdin === undefined || stdin === null) this.#isLeaving = true;
    this.#process.on("error", () => (this.#isLeaving = true));
    stdin?.on("error", () => (this.#isLeaving = true));
    stdout?.on("data", (chunk: Buffer) => this.#onOutput("stdout", chunk));
    stderr?.on("data", (chunk: Buffer) => this.#onOutput("stderr", chunk));
    stdio[EXIT_CODES]?.on("data", (line: Buffer) => void this.#onExitCode(line.toString("latin1")));
    this.#process.once("exit", () => this.#onExit());
    drainAfterExit(this.#process);
    this.#process.once("close", (code, killedBy) => this.#onClose(code, killedBy));
  }

  /** It waits for a command, and no signal is on its way: a shell that something is ending would not run this one. */
  canRun(command: string): boolean {
    if (this.#isLeaving || this.#command !== undefined) return false;
    if (command.includes("\0") || Buffer.byteLength(command) > LONGEST_COMMAND_BYTES || OF_THE_SHELL_ITSELF.test(command)) return false;
    if (!isAtRest(this.#process.pid!)) return false;
    if (this.#hasCleanOutput()) return true;
    this.#leave();
    return false;
  }

  get isLeaving(): boolean {
    return this.#isLeaving;
  }

  /**
   * Runs a command for which `canRun` has just said yes, in the workspace's top folder. Its whole tree, and the shell, is
   * ended when the signal aborts.
   * @returns undefined where the shell could not fork: nothing has run
   * @throws the reason of the signal
   */
  run(command: string, watch: ProcessWatch): Promise<ProcessEnd | undefined> {
    const feeds = command.split("\n").length - 1;
    return new Promise((resolve, reject) => {
      this.#command = { signal: watch.signal, onOutput: watch.onOutput, resolve, reject, exitCode: undefined, wasCut: false };
      watch.signal.addEventListener("abort", this.#kill);
      this.#process.stdin!.write(`${feeds}\n${command}\n`);
    });
  }

  readonly #kill = (): void => {
    this.#isLeaving = true;
    killTree(this.#process.pid!);
  };

  #onOutput(stream: "stdout" | "stderr", chunk: Buffer): void {
    this.#pieces++;
    const command = this.#command;
    if (command === undefined || command.wasCut || command.onOutput(stream, chunk)) return;
    command.wasCut = true;
    this.#kill();
  }

  async #onExitCode(line: string): Promise<void> {
    // Only the shell has that descriptor; what else comes over it was forced upon it.
    if (this.#command === undefined || !/^\d{1,3}\n$/.test(line)) return this.#kill();
    const exitCode = Number(line);
    this.#command.exitCode = exitCode;
    // In this order: what has ended prints no more, so that all there is can be read after it.
    if (!isAlone(this.#process.pid!)) return this.#leave();
    await this.#outputRead();
    if (!this.#isLeaving) this.#settle({ exitCode, wasCut: false });
  }

  /** What was printed before the exit code can be read by now; a whole turn of the loop without a piece has read it all. */
  async #outputRead(): Promise<void> {
    for (let seen = -1; seen !== this.#pieces;) {
      seen = this.#pieces;
      await turnOfTheLoop();
      await turnOfTheLoop();
    }
  }

  /** All commands share its sockets: one that shut them down, or had them not wait for their reader, did so for all. */
  #hasCleanOutput(): boolean {
    const { pid, stdout, stderr } = this.#process;
    return stdout?.readable === true && stderr?.readable === true && OUTPUTS.every((descriptor) => isBlocking(pid!, descriptor));
  }

  #leave(): void {
    this.#isLeaving = true;
    this.#process.stdin!.end();
  }

  #onExit(): void {
    this.#isLeaving = true;
    // Ended by its own command, which may go on.
    if (this.#command?.exitCode === undefined) killTree(this.#process.pid!);
  }

  #onClose(code: number | null, killedBy: NodeJS.Signals | null): void {
    const { exitCode, wasCut = false } = this.#command ?? {};
    const couldNotFork = exitCode === undefined && code !== null;
    this.#settle(couldNotFork ? undefined : { exitCode, signal: exitCode === undefined ? (killedBy ?? undefined) : undefined, wasCut });
  }

  #settle(end: ProcessEnd | undefined): void {
    const command = this.#command;
    if (command === undefined) return;
    this.#command = undefined;
    command.signal.removeEventListener("abort", this.#kill);
    if (command.signal.aborted) command.reject(command.signal.reason);
    else command.resolve(end);
  }
}

function isAtRest(processId: number): boolean {
  try {
    const status = readFileSync(`/proc/${processId}/status`, "latin1");
    return /^State:\tS/m.test(status) && /^SigPnd:\t0+$/m.test(status) && /^ShdPnd:\t0+$/m.test(status);
  } catch {
    return false;
  }
}

function isBlocking(processId: number, descriptor: number): boolean {
  try {
    const [, flags = ""] = /^flags:\t(\d+)$/m.exec(readFileSync(`/proc/${processId}/fdinfo/${descriptor}`, "latin1"))!;
    return (Number.parseInt(flags, 8) & (constants.O_NONBLOCK | O_ASYNC)) === 0;
  } catch {
    return false;
  }
}

function isAlone(shell: number): boolean {
  return readdirSync("/proc").every((name) => !/^\d/.test(name) || PROCESSES_AT_REST.has(name) || Number(name) === shell);
}
