import { spawn, type ChildProcess, type StdioOptions } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import type { Duplex, Readable, Writable } from "node:stream";
import { messageOf } from "@hlvm/errors/message-of";
import { bubblewrapArguments, descriptors, type SandboxLayout } from "./bubblewrap-arguments.ts";

const MAXIMUM_COMPLAINT_CHARACTERS = 4_096;
const MAXIMUM_INFORMATION_CHARACTERS = 4_096;
/** A bwrap that has not told its init process by then hangs before it has one. */
const LONGEST_START_MILLISECONDS = 5_000;

export interface SandboxProcessOptions {
  readonly bubblewrap: string;
  readonly layout: SandboxLayout;
  /** The path of the filter of system calls. */
  readonly seccomp: string;
  /** Whose processes these are on this machine; left out, this process's user. */
  readonly owner?: { readonly userId: number; readonly groupId: number };
}

/** How bwrap ended, and what it or the program inside said on standard error before it was released. */
export interface SandboxExit {
  readonly code: number | null;
  readonly complaint: string;
}

/** A bwrap process and what runs in it. */
export interface SandboxProcess {
  /** Of the program inside; a runner has neither standard input nor standard output. */
  readonly stdin: Writable | null;
  readonly stdout: Readable | null;
  readonly stderr: Readable;
  /** The descriptor that goes through to the program inside. */
  readonly occupant: Duplex;
  /** Resolves with the id on this machine of the first process inside. @throws Error with what bwrap said */
  readonly initProcess: Promise<number>;
  /** Has what is inside run, where it waits for that. */
  readonly release: () => void;
  /** Resolves when bwrap has ended and nobody holds its pipes any more. */
  readonly exited: Promise<SandboxExit>;
  /** Ends bwrap and its init process, and with that one everything inside. While bwrap starts it, that takes until it is known. */
  readonly kill: () => void;
}

/**
 * Starts a sandbox.
 * @param waits whether bwrap makes all its mounts and then waits, with nothing run, until it is released
 */
export function startSandboxProcess({ bubblewrap, layout, seccomp, owner }: SandboxProcessOptions, waits: boolean): SandboxProcess {
  const standard = layout.occupant.kind === "runner" ? "ignore" : "pipe";
  const filter = openSync(seccomp, "r");
  const stdio: StdioOptions = [standard, standard, "pipe", "pipe", "pipe", filter, ...(waits ? (["pipe"] as const) : [])];
  let child: ChildProcess;
  try {
    child = spawn(bubblewrap, bubblewrapArguments(layout, waits), {
      stdio,
      env: {},
      cwd: "/",
      ...(owner === undefined ? {} : { uid: owner.userId, gid: owner.groupId }),
    });
  } finally {
    closeSync(filter);
  }
  for (const stream of child.stdio) stream?.on("error", () => undefined);
  const exited = exitOf(child);
  const initProcess = initProcessId(child, exited);
  initProcess.catch(() => undefined);
  return {
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr!,
    occupant: pipeOf(child, descriptors.occupant) as Duplex,
    initProcess,
    release: () => void (pipeOf(child, descriptors.block) as Writable | undefined)?.end("x"),
    exited,
    kill: () => void killWithInit(child, initProcess),
  };
}

function pipeOf(child: ChildProcess, descriptor: number): unknown {
  return (child.stdio as readonly unknown[])[descriptor];
}

/** bwrap tells the id of the first process in the new namespaces as `{"child-pid": 42, …}`. */
function initProcessId(child: ChildProcess, exited: Promise<SandboxExit>): Promise<number> {
  const information = pipeOf(child, descriptors.information) as Readable;
  let text = "";
  const started = new Promise<number>((resolve, reject) => {
    information.setEncoding("utf8");
    information.on("data", (piece: string) => {
      text += piece;
      const id = /"child-pid":\s*(\d+)/.exec(text)?.[1];
      if (id !== undefined && text.includes("}")) resolve(Number(id));
      else if (text.length > MAXIMUM_INFORMATION_CHARACTERS) reject(new Error("bwrap said too much of its process"));
    });
  });
  return Promise.race([started, exited.then(({ complaint }) => Promise.reject(new Error(complaint)))]);
}

/**
 * The init process waits for bwrap before it is bound to its life: where only bwrap is killed meanwhile, it waits for ever. Both are
 * killed in one go, so that nobody else can have its id.
 */
async function killWithInit(child: ChildProcess, initProcess: Promise<number>): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, LONGEST_START_MILLISECONDS);
  const id = await Promise.race([initProcess.catch(() => undefined), late.promise]);
  clearTimeout(timer);
  if (child.killed || child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  try {
    if (id !== undefined) process.kill(id, "SIGKILL");
  } catch {
    // It has ended.
  }
}

function exitOf(child: ChildProcess): Promise<SandboxExit> {
  let complaint = "";
  child.stderr?.on("data", (piece: Buffer) => {
    if (complaint.length < MAXIMUM_COMPLAINT_CHARACTERS) complaint += piece.toString("latin1");
  });
  return new Promise((resolve) => {
    child.once("error", (cause) => resolve({ code: null, complaint: messageOf(cause) }));
    child.once("close", (code, signal) =>
      resolve({ code, complaint: firstLine(complaint) ?? `bwrap ended with ${signal ?? `exit code ${String(code)}`}` }),
    );
  });
}

/** Of a crash the runtime prints pages; the first line with words says what it was. */
function firstLine(complaint: string): string | undefined {
  return complaint
    .split("\n")
    .find((line) => /\w/.test(line))
    ?.trim();
}
