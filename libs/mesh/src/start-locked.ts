import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Lifetime } from "./lifetime.ts";
import { makeFolder } from "./make-folder.ts";
import { readMeshState, type MeshState } from "./mesh-state.ts";
import type { SupervisorMessage } from "./supervisor-message.ts";

export interface StartOptions {
  /** The HLVM directory; made when missing. */
  readonly directory: string;
  /** While-referenced: somebody has to `referenceMesh` within 10 s. */
  readonly lifetime: Lifetime;
  /** Settings of this mesh, besides those of the environment. */
  readonly settings?: Readonly<Record<string, string>>;
  /** A line for a person about what is being done. */
  readonly onProgress: (line: string) => void;
  /** An abort gives the start up: all that was begun has ended when that is thrown. */
  readonly signal?: AbortSignal;
}

const LOCK_IS_TAKEN = 75;
const OTHER_DEADLINE_MILLISECONDS = 60_000;
const OTHER_POLL_MILLISECONDS = 50;

/**
 * Runs a supervisor's main module under a lock on the directory, which it holds for as long as it lives: where several
 * are started at once one wins, and the others' callers get the winner's mesh.
 * @throws HlvmError the supervisor's own; `cancelled`
 */
export async function startLocked(main: string, options: StartOptions): Promise<MeshState> {
  const deadline = Date.now() + OTHER_DEADLINE_MILLISECONDS;
  let isAnnounced = false;
  for (;;) {
    if (options.signal?.aborted === true) throw givenUp();
    const state = (await startOne(main, options)) ?? readMeshState(options.directory);
    if (state !== undefined) return state;
    if (Date.now() > deadline) throw neverReady(options.directory);
    if (!isAnnounced) options.onProgress("Another process is starting or ending this mesh; waiting for it.");
    isAnnounced = true;
    await sleep(OTHER_POLL_MILLISECONDS);
  }
}

/** Undefined where another supervisor has the directory. */
async function startOne(main: string, options: StartOptions): Promise<MeshState | undefined> {
  const logFile = join(options.directory, "logs", "supervisor.log");
  const child = launch(main, options, logFile);
  const giveUp = (): void => void child.kill("SIGTERM");
  options.signal?.addEventListener("abort", giveUp, { once: true });
  return new Promise<MeshState | undefined>((resolve, reject) => {
    child.once("error", (cause) => reject(notStarted(cause.message, logFile, cause)));
    child.once("exit", (code, signal) => {
      if (options.signal?.aborted === true) reject(givenUp());
      else if (code === LOCK_IS_TAKEN) resolve(undefined);
      else reject(notStarted(`it ended with ${signal ?? `code ${code}`}`, logFile));
    });
    child.on("message", (message: SupervisorMessage) => {
      if (message.kind === "progress") return options.onProgress(message.line);
      if (options.signal?.aborted === true) return;
      letGo(child);
      if (message.kind === "ready") resolve(message.state);
      else reject(new HlvmError(message));
    });
  }).finally(() => options.signal?.removeEventListener("abort", giveUp));
}

/** In a process group of its own: a Ctrl-C in the terminal must not reach it past its starter. */
function launch(main: string, { directory, lifetime, settings }: StartOptions, logFile: string): ChildProcess {
  const log = openLog(directory, logFile);
  const lock = ["--nonblock", "--no-fork", "--conflict-exit-code", String(LOCK_IS_TAKEN), join(directory, "run", "supervisor.lock")];
  try {
    return spawn("flock", [...lock, process.execPath, main], {
      cwd: directory,
      env: { ...process.env, ...settings, HLVM_DIR: directory, HLVM_LIFETIME: lifetime },
      stdio: ["ignore", log, log, "ipc"],
      detached: true,
    });
  } finally {
    closeSync(log);
  }
}

function openLog(directory: string, logFile: string): number {
  try {
    for (const folder of ["run", "logs"]) makeFolder(join(directory, folder));
    return openSync(logFile, "a", 0o600);
  } catch (cause) {
    throw new HlvmError({
      code: "failed_precondition",
      reason: "directory_not_writable",
      message: `HLVM cannot write its data to ${directory}: ${(cause as Error).message}.`,
      advice: "Make that folder writable, or set HLVM_DIR to another one.",
      cause,
    });
  }
}

function letGo(child: ChildProcess): void {
  if (child.connected) child.disconnect();
  child.unref();
}

function notStarted(why: string, logFile: string, cause?: unknown): HlvmError {
  return new HlvmError({
    code: "unavailable",
    reason: "supervisor_failed",
    message: `The supervisor did not start: ${why}.`,
    advice: `Its log says more: ${logFile}`,
    cause,
  });
}

function givenUp(): HlvmError {
  return new HlvmError({ code: "cancelled", reason: "cancelled", message: "The start of the mesh was given up." });
}

function neverReady(directory: string): HlvmError {
  return new HlvmError({
    code: "unavailable",
    reason: "mesh_not_ready",
    message: `Another process has been starting or ending the mesh of ${directory} for more than ${OTHER_DEADLINE_MILLISECONDS / 1000} s.`,
    advice: `${join(directory, "logs", "supervisor.log")} says what it does; \`hlvm down\` ends it.`,
  });
}
