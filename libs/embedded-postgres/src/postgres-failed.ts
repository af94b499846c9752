import { HlvmError } from "@hlvm/errors/hlvm-error";

export function postgresFailed(what: string, logFile: string): HlvmError {
  return new HlvmError({
    code: "unavailable",
    reason: "postgres_failed",
    message: `PostgreSQL ${what}.`,
    advice: `Its log says why: ${logFile}`,
  });
}
