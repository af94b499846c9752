import { pino } from "pino";
import type { Logger } from "pino";

export type Log = Logger;
export type LogLevel = "debug" | "info" | "warn" | "error";

const SECRET_FIELDS = ["token", "authorization", "grant", "password", "apiKey", "databaseUrl"];

/** One JSON line an entry on standard output, in order and before the process ends. Fields that hold secrets are cut out. */
export function createLog(service: string, level: LogLevel): Log {
  return pino(
    {
      level,
      base: { service },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]), censor: "[secret]" },
    },
    pino.destination({ fd: 1, sync: true }),
  );
}
