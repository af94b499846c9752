import { context, trace } from "@opentelemetry/api";
import { pino } from "pino";
import type { DestinationStream, Logger } from "pino";

export type Log = Logger;
export type LogLevel = "debug" | "info" | "warn" | "error";

const SECRET_NAMES = "token|authorization|grant|password|api_?key|x-api-key|master_?key|key|secret|cookie|set-cookie|database_?url";
const SECRET_NAME = new RegExp(`^(?:${SECRET_NAMES})$`, "i");
/** Within a string every quote is escaped, so that this finds names of fields alone. */
const SECRET_FIELD = new RegExp(`"(?:${SECRET_NAMES})":`, "i");

/**
 * One JSON line an entry on standard output, in order and before the process ends. Fields that hold secrets are cut out by
 * their name, at any depth and whatever they hold; what a message says in words is not looked at. Lines that are written while a
 * call is answered or a run goes on carry its `trace_id` and `span_id`, whether or not traces are exported.
 * @param destination where the lines go instead
 */
export function createLog(service: string, level: LogLevel, destination: DestinationStream = pino.destination({ fd: 1, sync: true })): Log {
  return pino(
    {
      level,
      base: { service },
      timestamp: pino.stdTimeFunctions.isoTime,
      mixin: placeInTrace,
      formatters: { level: (label) => ({ level: label }) },
      hooks: { streamWrite: (line) => (SECRET_FIELD.test(line) ? withoutSecrets(line) : line) },
    },
    destination,
  );
}

function withoutSecrets(line: string): string {
  const censored = JSON.stringify(JSON.parse(line), (name, value: unknown) => (SECRET_NAME.test(name) ? "[secret]" : value));
  return `${censored}\n`;
}

function placeInTrace(): object {
  const place = trace.getSpanContext(context.active());
  return place === undefined ? {} : { trace_id: place.traceId, span_id: place.spanId };
}
