import { Code } from "@connectrpc/connect";
import type { ErrorCode } from "@hlvm/errors/hlvm-error";

const CODES: Readonly<Record<ErrorCode, Code>> = {
  invalid_argument: Code.InvalidArgument,
  not_found: Code.NotFound,
  already_exists: Code.AlreadyExists,
  permission_denied: Code.PermissionDenied,
  unauthenticated: Code.Unauthenticated,
  failed_precondition: Code.FailedPrecondition,
  resource_exhausted: Code.ResourceExhausted,
  unavailable: Code.Unavailable,
  deadline_exceeded: Code.DeadlineExceeded,
  cancelled: Code.Canceled,
  unimplemented: Code.Unimplemented,
  internal: Code.Internal,
};

export function connectCodeOf(code: ErrorCode): Code {
  return CODES[code];
}

/** The nearest of our codes; what has none of its own is `internal`. */
export function errorCodeOf(code: Code): ErrorCode {
  const found = Object.entries(CODES).find(([, value]) => value === code);
  return (found?.[0] as ErrorCode | undefined) ?? "internal";
}
