import { HlvmError, type ErrorFields } from "@hlvm/errors/hlvm-error";

/** What the operating system, or PostgreSQL while it starts, ends or crashes, says of a connection. */
const UNREACHABLE = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ENOENT",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENOTFOUND",
  "57P01",
  "57P02",
  "57P03",
]);
/** Of class 08, connection exceptions. */
const CONNECTION_EXCEPTION = /^08[0-9A-Z]{3}$/;
const UNREACHABLE_WORDS =
  /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Query read timeout/;

type Explanation = Pick<ErrorFields, "code" | "reason" | "message" | "advice">;

/** By SQLSTATE: what PostgreSQL lacks. The statement was not carried out, and the transaction is rolled back. */
const LACKING: Readonly<Record<string, Explanation>> = {
  "53100": {
    code: "resource_exhausted",
    reason: "database_disk_full",
    message: "PostgreSQL has no space left on its disk, so nothing can be recorded.",
    advice: "Free some space (`hlvm doctor` names the folder and what is free there), then try again: what was recorded is kept.",
  },
  "53200": {
    code: "resource_exhausted",
    reason: "database_out_of_memory",
    message: "PostgreSQL has no memory left for this.",
    advice: "End other programs on the machine that it runs on, or give it more memory, then try again: what was recorded is kept.",
  },
  "53300": {
    code: "unavailable",
    reason: "database_overloaded",
    message: "PostgreSQL takes no further connections: as many as it allows are open.",
    advice: "Try again in a moment. Where it stays so, raise max_connections in PostgreSQL, or end what else is connected to it.",
  },
};

/** What keeps PostgreSQL from serving becomes ours, with what to do; a statement's own errors stay as they are. */
export function databaseError(cause: unknown): unknown {
  if (!(cause instanceof Error)) return cause;
  const code = (cause as NodeJS.ErrnoException).code ?? "";
  const lacking = LACKING[code];
  if (lacking !== undefined) return new HlvmError({ ...lacking, cause });
  if (!UNREACHABLE.has(code) && !CONNECTION_EXCEPTION.test(code) && !UNREACHABLE_WORDS.test(cause.message)) return cause;
  return new HlvmError({
    code: "unavailable",
    reason: "database_unreachable",
    message: `PostgreSQL cannot be reached (${code || cause.message}).`,
    advice:
      "Check that PostgreSQL is up (`hlvm status`) and has space on its disk (`hlvm doctor`); nothing was lost, try again when it is.",
    cause,
  });
}
