import type { ChildProcess } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { launchPostgres } from "./launch-postgres.ts";
import { makeData } from "./make-data.ts";
import { postgresFailed } from "./postgres-failed.ts";
import { PORT, SUPERUSER, superuserPasswordFile } from "./superuser-url.ts";

export interface PostgresOptions {
  /** Holds the data and the superuser's password; made when missing. */
  readonly directory: string;
  /** Holds the Unix socket; its path must stay under 90 bytes. */
  readonly socketDirectory: string;
  readonly logFile: string;
  /** False for tests: a crash may lose what was committed last. */
  readonly durable: boolean;
  /** An abort ends the start, which throws its reason when no process is left. */
  readonly signal?: AbortSignal;
}

export interface RunningPostgres {
  readonly pid: number;
  /** Of a database, as the superuser or as another role. */
  readonly url: (database: string, role?: { readonly name: string; readonly password: string }) => string;
  readonly exited: Promise<void>;
  readonly stop: () => Promise<void>;
}

const START_DEADLINE_MILLISECONDS = 20_000;
const POLL_MILLISECONDS = 10;
const STOP_DEADLINE_MILLISECONDS = 5_000;
/** It kills its own processes 5 s after SIGQUIT, and then ends: only what hangs itself is still there. */
const KILL_DEADLINE_MILLISECONDS = 12_000;
const MAXIMUM_CONNECTIONS = 100;

/**
 * Starts PostgreSQL on a Unix socket alone, so that no port can be taken and nobody else on the machine can connect.
 * @throws HlvmError `postgres_failed`, naming the log file; `postgres_data_missing`
 */
export async function startPostgres(options: PostgresOptions): Promise<RunningPostgres> {
  const { logFile, durable, signal } = options;
  signal?.throwIfAborted();
  const data = join(options.directory, "data");
  const passwordFile = superuserPasswordFile(options.directory);
  for (const directory of [options.directory, options.socketDirectory]) {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    chmodSync(directory, 0o700);
  }
  if (!existsSync(join(data, "PG_VERSION"))) await makeData({ data, superuser: SUPERUSER, passwordFile, logFile, durable, signal });

  const { child, exited } = launchPostgres("postgres", serverArguments(data, options), logFile);
  try {
    await waitUntilReady(join(data, "postmaster.pid"), child, options);
  } catch (cause) {
    await stop(child, exited);
    throw cause;
  }
  const password = readFileSync(passwordFile, "utf8");
  return {
    pid: child.pid!,
    exited: exited.then(() => undefined),
    url: (database, role = { name: SUPERUSER, password }) =>
      `postgresql://${role.name}:${role.password}@/${database}?host=${encodeURIComponent(options.socketDirectory)}&port=${PORT}`,
    stop: () => stop(child, exited),
  };
}

function serverArguments(data: string, options: PostgresOptions): string[] {
  const settings: Record<string, string> = {
    listen_addresses: "",
    unix_socket_directories: options.socketDirectory,
    port: String(PORT),
    max_connections: String(MAXIMUM_CONNECTIONS),
    shared_buffers: "64MB",
    fsync: options.durable ? "on" : "off",
    synchronous_commit: options.durable ? "on" : "off",
    full_page_writes: options.durable ? "on" : "off",
  };
  return ["-D", data, ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])];
}

async function waitUntilReady(statusFile: string, child: ChildProcess, { logFile, signal }: PostgresOptions): Promise<void> {
  const deadline = Date.now() + START_DEADLINE_MILLISECONDS;
  while (Date.now() < deadline) {
    if (hasEnded(child)) throw postgresFailed("ended while starting", logFile);
    if (isReady(statusFile, child.pid)) return;
    await sleep(POLL_MILLISECONDS);
    signal?.throwIfAborted();
  }
  throw postgresFailed(`was not up after ${START_DEADLINE_MILLISECONDS / 1000} s`, logFile);
}

/**
 * The socket is there before queries are answered; the server's own status file says when they are, as `pg_ctl` reads it:
 * its process in the first line, its state in the eighth.
 */
function isReady(statusFile: string, pid: number | undefined): boolean {
  try {
    const lines = readFileSync(statusFile, "utf8").split("\n");
    return lines[0] === String(pid) && lines[7]?.trim() === "ready";
  } catch {
    return false;
  }
}

async function stop(child: ChildProcess, exited: Promise<unknown>): Promise<void> {
  if (hasEnded(child)) return;
  child.kill("SIGINT");
  // Where it was stopped it hears nothing before it goes on.
  child.kill("SIGCONT");
  const immediately = setTimeout(() => child.kill("SIGQUIT"), STOP_DEADLINE_MILLISECONDS);
  const killed = setTimeout(() => child.kill("SIGKILL"), KILL_DEADLINE_MILLISECONDS);
  await exited;
  clearTimeout(immediately);
  clearTimeout(killed);
}

function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}
