import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, openSync, closeSync, readFileSync, renameSync, rmSync, writeFileSync, chmodSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { postgresCommand } from "./postgres-command.ts";

export interface PostgresOptions {
  /** Holds the data and the superuser's password; made when missing. */
  readonly directory: string;
  /** Holds the Unix socket; its path must stay under 90 bytes. */
  readonly socketDirectory: string;
  readonly logFile: string;
  /** False for tests: a crash may lose what was committed last. */
  readonly durable: boolean;
}

export interface RunningPostgres {
  readonly pid: number;
  /** Of a database, as the superuser or as another role. */
  readonly url: (database: string, role?: { readonly name: string; readonly password: string }) => string;
  readonly exited: Promise<void>;
  readonly stop: () => Promise<void>;
}

const SUPERUSER = "postgres";
const PORT = 5432;
const START_DEADLINE_MILLISECONDS = 20_000;
const STOP_DEADLINE_MILLISECONDS = 5_000;
const MAXIMUM_CONNECTIONS = 100;

/**
 * Starts PostgreSQL on a Unix socket alone, so that no port can be taken and nobody else on the machine can connect.
 * @throws HlvmError `postgres_failed`, naming the log file; `postgres_data_missing`
 */
export async function startPostgres(options: PostgresOptions): Promise<RunningPostgres> {
  const data = join(options.directory, "data");
  const passwordFile = join(options.directory, "superuser-password");
  for (const directory of [options.directory, options.socketDirectory]) {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    chmodSync(directory, 0o700);
  }
  if (!existsSync(join(data, "PG_VERSION"))) await initialize(data, passwordFile, options.logFile);

  const child = launch("postgres", serverArguments(data, options), options.logFile);
  const exited = exitOf(child).then(() => undefined);
  await waitUntilReady(join(data, "postmaster.pid"), child, options.logFile);
  const password = readFileSync(passwordFile, "utf8");
  return {
    pid: child.pid!,
    exited,
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

/** Makes the data under another name first: what bears the right name is whole. */
async function initialize(data: string, passwordFile: string, logFile: string): Promise<void> {
  const unfinished = unfinishedData(data);
  if (existsSync(passwordFile) && !existsSync(unfinished))
    throw new HlvmError({
      code: "failed_precondition",
      reason: "postgres_data_missing",
      message: `PostgreSQL's data was in ${data} and is not there any more.`,
      advice: `Put it back from a backup. To begin anew, with everything forgotten, remove ${passwordFile}.`,
    });
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { mode: 0o700 });
  writeFileSync(passwordFile, randomBytes(24).toString("hex"), { mode: 0o600 });
  const settings = ["--auth=scram-sha-256", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync", "--no-instructions"];
  const child = launch("initdb", ["-D", unfinished, "-U", SUPERUSER, `--pwfile=${passwordFile}`, ...settings], logFile);
  if ((await exitOf(child)) !== 0) throw failed("could not make its data folder", logFile);
  renameSync(unfinished, data);
}

function unfinishedData(data: string): string {
  return `${data}.unfinished`;
}

/** The exit code; null where it ended by a signal or could not be started. */
function exitOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => {
    child.once("exit", resolve);
    child.once("error", () => resolve(null));
  });
}

/** In a process group of its own: a Ctrl-C in the terminal must reach it only through us. */
function launch(program: "postgres" | "initdb", programArguments: readonly string[], logFile: string): ChildProcess {
  const [command, commandArguments] = postgresCommand(program, programArguments);
  const log = openSync(logFile, "a", 0o600);
  try {
    const child = spawn(command, commandArguments, {
      stdio: ["ignore", log, log],
      env: { PATH: process.env.PATH, TZ: "UTC" },
      detached: true,
    });
    child.on("error", () => undefined);
    return child;
  } finally {
    closeSync(log);
  }
}

async function waitUntilReady(statusFile: string, child: ChildProcess, logFile: string): Promise<void> {
  const deadline = Date.now() + START_DEADLINE_MILLISECONDS;
  while (Date.now() < deadline) {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) throw failed("ended while starting", logFile);
    if (isReady(statusFile, child.pid)) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  child.kill("SIGKILL");
  throw failed(`was not up after ${START_DEADLINE_MILLISECONDS / 1000} s`, logFile);
}

/**
 * The socket is there before queries are answered; the server's own status file says when they are, as `pg_ctl` reads it:
 * its process in the first line, its state in the eighth.
 */
function isReady(statusFile: string, pid: number): boolean {
  try {
    const lines = readFileSync(statusFile, "utf8").split("\n");
    return lines[0] === String(pid) && lines[7]?.trim() === "ready";
  } catch {
    return false;
  }
}

async function stop(child: ChildProcess, exited: Promise<void>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGINT");
  const immediately = setTimeout(() => child.kill("SIGQUIT"), STOP_DEADLINE_MILLISECONDS);
  await exited;
  clearTimeout(immediately);
}

function failed(what: string, logFile: string): HlvmError {
  return new HlvmError({
    code: "unavailable",
    reason: "postgres_failed",
    message: `PostgreSQL ${what}.`,
    advice: `Its log says why: ${logFile}`,
  });
}
