import type { Log } from "@hlvm/log/create-log";
import { keepTraceContext } from "./trace-context.ts";

export interface Telemetry {
  /** Sends what waits, within two seconds; what does not get through by then is lost. Never rejects. */
  readonly close: () => Promise<void>;
}

const NOTHING: Telemetry = { close: () => Promise.resolve() };

/**
 * Exports a process's traces and metrics where OTEL_EXPORTER_OTLP_ENDPOINT names a receiver; elsewhere nothing of the SDK is
 * even loaded. The trace id of a call is kept either way: log lines and the audit log have it.
 * Await it before instruments are used: the metrics API has nothing that would pass values on to an SDK that comes later.
 */
export async function startTelemetry(service: string, log: Log, environment: NodeJS.ProcessEnv): Promise<Telemetry> {
  keepTraceContext();
  if ((environment.OTEL_EXPORTER_OTLP_ENDPOINT ?? "") === "") return NOTHING;
  const { startSdk } = await import("./start-sdk.ts");
  return startSdk(service, log, environment);
}
