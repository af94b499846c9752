import { fork, type ChildProcess } from "node:child_process";
import { closeSync } from "node:fs";
import { isIPv6 } from "node:net";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { lastLines } from "@hlvm/mesh/last-lines";
import type { StartMessage } from "@hlvm/service/run-service";
import type { Layer, ManagedProcess, RunningProcess } from "../domain/managed-process.ts";
import { openLog } from "./log-file.ts";
import { serviceHealth } from "./service-health.ts";

export interface ServiceProcess {
  readonly name: string;
  /** The path of its main module. */
  readonly main: string;
  /** What Node runs it with. */
  readonly nodeFlags: string[];
  readonly logFile: string;
  readonly environment: Readonly<Record<string, string>>;
  /** What it is told to listen on; 0 for any free port, which it then keeps. */
  readonly port: number;
  readonly needs: readonly string[];
  readonly layer: Layer;
  /** Whose token its health check carries; undefined where it asks nobody for one. */
  readonly tokenFile: string | undefined;
}

const START_DEADLINE_MILLISECONDS = 30_000;
/** A service ends by itself within 8 s. */
const STOP_DEADLINE_MILLISECONDS = 9_000;

/** A service of ours as a process: it says over its IPC channel when it is up, and ends when that channel does. */
export function serviceProcess(service: ServiceProcess): ManagedProcess {
  const { name, logFile, needs, layer } = service;
  let port = service.port;
  return {
    name,
    logFile,
    needs,
    layer,
    start: async (signal) => {
      const running = await start({ ...service, port }, signal);
      port = running.port;
      return running;
    },
  };
}

async function start(service: ServiceProcess, signal: AbortSignal): Promise<RunningProcess & { readonly port: number }> {
  const { descriptor, size } = openLog(service.logFile);
  let child: ChildProcess;
  try {
    child = fork(service.main, [], {
      env: { ...service.environment, HLVM_PORT: String(service.port) },
      execArgv: service.nodeFlags,
      stdio: ["ignore", descriptor, descriptor, "ipc"],
      // A process group of its own: a Ctrl-C in the terminal must reach it only through us.
      detached: true,
    });
  } finally {
    closeSync(descriptor);
  }
  const ended = new Promise<string>((resolve) => {
    child.once("exit", (code, killedBy) => resolve(killedBy ?? `code ${code}`));
    child.once("error", (cause) => resolve(cause.message));
  });
  try {
    const port = await ready(service, child, ended, signal, size);
    const check = serviceHealth(addressOf(service, port), service.tokenFile);
    return { pid: child.pid!, port, ended, check, stop: () => stop(child, ended) };
  } catch (cause) {
    await stop(child, ended);
    throw cause;
  }
}

function ready(
  service: ServiceProcess,
  child: ChildProcess,
  ended: Promise<string>,
  signal: AbortSignal,
  logSize: number,
): Promise<number> {
  return new Promise((resolve, reject) => {
    let settled = false;
    const settle = (outcome: () => void): void => {
      if (settled) return;
      settled = true;
      clearTimeout(deadline);
      signal.removeEventListener("abort", onAbort);
      outcome();
    };
    const onAbort = (): void => settle(() => reject(signal.reason));
    const deadline = setTimeout(
      () => settle(() => reject(failed(service, "start_timeout", `was not up after ${START_DEADLINE_MILLISECONDS / 1000} s.`, ""))),
      START_DEADLINE_MILLISECONDS,
    );
    signal.addEventListener("abort", onAbort, { once: true });
    void ended.then((how) =>
      settle(() => reject(failed(service, "service_ended", `ended while starting (${how}).`, lastLines(service.logFile, logSize)))),
    );
    child.on("message", (message: StartMessage) =>
      settle(() => {
        if (message.kind === "ready") resolve(message.port);
        else reject(failed(service, message.reason, `could not start: ${message.message}`, message.advice));
      }),
    );
  });
}

async function stop(child: ChildProcess, ended: Promise<string>): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGTERM");
  // Where it was stopped it hears nothing before it goes on.
  child.kill("SIGCONT");
  const immediately = setTimeout(() => killGroup(child.pid!), STOP_DEADLINE_MILLISECONDS);
  await ended;
  clearTimeout(immediately);
}

function addressOf({ environment }: ServiceProcess, port: number): string {
  const host = environment.HLVM_HOST ?? "127.0.0.1";
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It ended just now.
  }
}

function failed(service: ServiceProcess, reason: string, what: string, advice: string): HlvmError {
  const where = service.port === 0 ? "on any free port" : `on port ${service.port}`;
  return new HlvmError({
    code: "unavailable",
    reason,
    message: `The service ${service.name} (${where}) ${what}`,
    advice: [advice, `Its log: ${service.logFile}`].filter((line) => line !== "").join("\n"),
  });
}
