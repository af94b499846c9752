import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { freePorts } from "./free-ports.ts";
import { meilisearchCommand } from "./meilisearch-command.ts";

export interface MeilisearchOptions {
  /** Holds the index; made when missing, and can be thrown away. */
  readonly directory: string;
  readonly logFile: string;
  /** At least 16 bytes; every request has to carry it. */
  readonly masterKey: string;
  /** Left out, any free one. */
  readonly port?: number;
  /** An abort ends the start, which throws its reason when no process is left. */
  readonly signal?: AbortSignal;
}

export interface RunningMeilisearch {
  readonly url: string;
  readonly pid: number;
  readonly exited: Promise<void>;
  readonly stop: () => Promise<void>;
}

const START_DEADLINE_MILLISECONDS = 20_000;
const POLL_MILLISECONDS = 20;
const PROBE_DEADLINE_MILLISECONDS = 1_000;
const STOP_DEADLINE_MILLISECONDS = 3_000;
const DATA = "data";
/** How often another free port is tried when somebody was quicker. */
const PORT_ATTEMPTS = 3;
/** The server would otherwise take two thirds of the machine's memory for indexing. */
const MAXIMUM_INDEXING_MEMORY = "256MiB";

/** What it says of files that another version of it wrote, or that name none. */
const OF_ANOTHER_VERSION = /Your database version|Version file is/;

/**
 * Starts Meilisearch on loopback and waits until it answers. An index of another version is thrown away, since it is filled again from
 * where its documents come from.
 * @throws HlvmError `port_taken`, or `meilisearch_failed`, naming the log file
 */
export async function startMeilisearch(options: MeilisearchOptions): Promise<RunningMeilisearch> {
  mkdirSync(options.directory, { recursive: true, mode: 0o700 });
  const logged = statSync(options.logFile, { throwIfNoEntry: false })?.size ?? 0;
  try {
    return await startOnAnyPort(options);
  } catch (cause) {
    const hasFailed = cause instanceof HlvmError && cause.reason === "meilisearch_failed";
    if (!hasFailed || !OF_ANOTHER_VERSION.test(readFileSync(options.logFile).subarray(logged).toString())) throw cause;
    rmSync(join(options.directory, DATA), { recursive: true, force: true });
    return await startOnAnyPort(options);
  }
}

async function startOnAnyPort(options: MeilisearchOptions): Promise<RunningMeilisearch> {
  for (let attempt = 1; ; attempt++) {
    const port = options.port ?? (await freePorts(1))[0]!;
    try {
      return await startOn(port, options);
    } catch (cause) {
      const isTaken = cause instanceof HlvmError && cause.reason === "port_taken";
      if (!isTaken || options.port !== undefined || attempt === PORT_ATTEMPTS) throw cause;
    }
  }
}

async function startOn(port: number, options: MeilisearchOptions): Promise<RunningMeilisearch> {
  if (await isPortTaken(port)) throw portTaken(port);
  options.signal?.throwIfAborted();
  const child = launch(port, options);
  const exited = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.on("error", () => resolve());
  });
  const url = `http://127.0.0.1:${port}`;
  try {
    await waitUntilUp(url, child, options);
  } catch (cause) {
    await stop(child, exited);
    throw cause;
  }
  return { url, pid: child.pid!, exited, stop: () => stop(child, exited) };
}

/** In a process group of its own: a Ctrl-C in the terminal must reach it only through us. The key is not on the command line. */
function launch(port: number, options: MeilisearchOptions): ChildProcess {
  const [command, commandArguments] = meilisearchCommand([
    "--no-analytics",
    "--env=production",
    "--log-level=WARN",
    `--http-addr=127.0.0.1:${port}`,
    `--db-path=${join(options.directory, DATA)}`,
    `--dump-dir=${join(options.directory, "dumps")}`,
    `--snapshot-dir=${join(options.directory, "snapshots")}`,
    `--max-indexing-memory=${MAXIMUM_INDEXING_MEMORY}`,
  ]);
  const log = openSync(options.logFile, "a", 0o600);
  try {
    const child = spawn(command, commandArguments, {
      cwd: options.directory,
      stdio: ["ignore", log, log],
      env: { PATH: process.env.PATH, MEILI_MASTER_KEY: options.masterKey },
      detached: true,
    });
    return child;
  } finally {
    closeSync(log);
  }
}

async function waitUntilUp(url: string, child: ChildProcess, options: MeilisearchOptions): Promise<void> {
  const deadline = Date.now() + START_DEADLINE_MILLISECONDS;
  while (Date.now() < deadline) {
    options.signal?.throwIfAborted();
    if (hasEnded(child)) {
      const port = Number(new URL(url).port);
      throw (await isPortTaken(port)) ? portTaken(port) : failed("ended while starting", options.logFile);
    }
    if (await answers(url, options)) return;
    await sleep(POLL_MILLISECONDS);
  }
  throw failed(`was not up after ${START_DEADLINE_MILLISECONDS / 1000} s`, options.logFile);
}

/** Only the server that was started with this key answers to it. */
async function answers(url: string, { masterKey, signal }: MeilisearchOptions): Promise<boolean> {
  const deadline = AbortSignal.timeout(PROBE_DEADLINE_MILLISECONDS);
  try {
    const response = await fetch(`${url}/version`, {
      headers: { authorization: `Bearer ${masterKey}` },
      signal: signal === undefined ? deadline : AbortSignal.any([deadline, signal]),
    });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

async function stop(child: ChildProcess, exited: Promise<void>): Promise<void> {
  if (hasEnded(child)) return;
  child.kill("SIGTERM");
  // Where it was stopped it hears nothing before it goes on.
  child.kill("SIGCONT");
  const immediately = setTimeout(() => child.kill("SIGKILL"), STOP_DEADLINE_MILLISECONDS);
  await exited;
  clearTimeout(immediately);
}

function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}

function failed(what: string, logFile: string): HlvmError {
  return new HlvmError({
    code: "unavailable",
    reason: "meilisearch_failed",
    message: `Meilisearch ${what}.`,
    advice: `Its log says why: ${logFile}`,
  });
}

function portTaken(port: number): HlvmError {
  return new HlvmError({
    code: "unavailable",
    reason: "port_taken",
    message: `Port ${port} on 127.0.0.1, wanted by Meilisearch, is taken by another process.`,
    advice: `End that process (\`ss -ltnp 'sport = :${port}'\` names it), or choose another port.`,
  });
}

/** Whether a server of somebody else listens on this loopback port. */
async function isPortTaken(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once("error", () => resolve(true));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(false)));
  });
}
