import { setTimeout as sleep } from "node:timers/promises";
import { createLog, type Log, type LogLevel } from "@hlvm/log/create-log";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { messageOf } from "@hlvm/errors/message-of";
import { startTelemetry, type Telemetry } from "@hlvm/telemetry/start-telemetry";

/** A service that is up. */
export interface RunningService {
  /** The port it listens on. */
  readonly port: number;
  /** Ends what is under way within a few seconds, then everything else. */
  readonly close: () => Promise<void>;
}

/** What a starter is told when the service is up, or why it is not: one message over the IPC channel. */
export type StartMessage =
  | { readonly kind: "ready"; readonly service: string; readonly port: number }
  | { readonly kind: "failed"; readonly service: string; readonly reason: string; readonly message: string; readonly advice: string };

const CLOSE_DEADLINE_MILLISECONDS = 8_000;
/** How long a start that is under way may go on where the service has to stop: what it has begun is then closed in order. */
const START_GRACE_MILLISECONDS = 1_000;

/**
 * The life of a service's process: start, say so, stop on SIGTERM, SIGINT or when the process that started it is gone.
 * It never goes on after an error that nobody caught.
 */
export async function runService(
  service: string,
  start: (log: Log, environment: NodeJS.ProcessEnv) => Promise<RunningService>,
): Promise<void> {
  const log = createLog(service, (process.env.HLVM_LOG_LEVEL as LogLevel | undefined) ?? "info");
  const fail = async (cause: unknown): Promise<never> => {
    const error = cause instanceof HlvmError ? cause : undefined;
    const message = messageOf(cause);
    log.error({ err: cause }, "cannot go on");
    await tell({ kind: "failed", service, reason: error?.reason ?? "unexpected", message, advice: error?.advice ?? "" });
    process.exit(1);
  };
  process.on("uncaughtException", (cause) => void fail(cause));
  process.on("unhandledRejection", (cause) => void fail(cause));

  let telemetry: Telemetry | undefined;
  let starting: Promise<RunningService> | undefined;
  let stopping = false;
  const stop = async (why: string): Promise<void> => {
    if (stopping) return;
    stopping = true;
    log.info({ why }, "stopping");
    setTimeout(() => {
      log.error("did not stop in time");
      process.exit(1);
    }, CLOSE_DEADLINE_MILLISECONDS).unref();
    const running = await Promise.race([starting?.catch(() => undefined), sleep(START_GRACE_MILLISECONDS, undefined)]);
    await running?.close();
    await telemetry?.close();
    process.exit(0);
  };
  process.on("SIGTERM", () => void stop("SIGTERM"));
  process.on("SIGINT", () => void stop("SIGINT"));
  const onStarterGone = (): void => void stop("the process that started it is gone");
  process.on("disconnect", onStarterGone);

  let running: RunningService;
  try {
    telemetry = await startTelemetry(service, log, process.env);
    starting = start(log, process.env);
    running = await starting;
  } catch (cause) {
    return stopping ? undefined : fail(cause);
  }
  if (stopping) return;
  log.info({ port: running.port }, "ready");
  // It may have gone while this module was still being loaded, when nobody listened for it.
  if (process.send !== undefined && !process.connected) return onStarterGone();
  await tell({ kind: "ready", service, port: running.port });
}

function tell(message: StartMessage): Promise<void> {
  return new Promise((resolve) => {
    if (process.send === undefined || !process.connected) resolve();
    else process.send(message, () => resolve());
  });
}
