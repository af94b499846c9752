import { Code, type ConnectError } from "@connectrpc/connect";
import type { Log } from "@hlvm/log/create-log";
import { toConnectError } from "@hlvm/connect-errors/to-connect-error";

const EXPECTED = new Set([Code.InvalidArgument, Code.NotFound, Code.AlreadyExists, Code.FailedPrecondition, Code.Canceled]);

/** The one place where errors become transport codes, and where they are logged. */
export function translateError(log: Log, thrown: unknown, method: string): ConnectError {
  const error = toConnectError(thrown);
  if (error.code === Code.Internal) log.error({ err: thrown, method }, "call failed");
  else if (!EXPECTED.has(error.code)) log.warn({ code: Code[error.code], reason: error.rawMessage, method }, "call refused");
  return error;
}
