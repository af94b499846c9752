/** What kind of failure this is; each becomes one transport code in `@hlvm/rpc`. */
export type ErrorCode =
  | "invalid_argument"
  | "not_found"
  | "already_exists"
  | "permission_denied"
  | "unauthenticated"
  | "failed_precondition"
  | "resource_exhausted"
  | "unavailable"
  | "deadline_exceeded"
  | "cancelled"
  | "unimplemented"
  | "internal";

export interface ErrorFields {
  readonly code: ErrorCode;
  /** A stable word for programs, snake_case: `workspace_not_readable`. */
  readonly reason: string;
  /** A sentence for a person: what happened, and to what. */
  readonly message: string;
  /** What that person can do about it. Left out only where nothing can be done. */
  readonly advice?: string;
  readonly cause?: unknown;
}

/** The one error of the product: it keeps its cause and tells a person what to do. */
export class HlvmError extends Error {
  override readonly name = "HlvmError";
  readonly code: ErrorCode;
  readonly reason: string;
  readonly advice: string;

  constructor(fields: ErrorFields) {
    super(fields.message, { cause: fields.cause });
    this.code = fields.code;
    this.reason = fields.reason;
    this.advice = fields.advice ?? "";
  }
}
