import { ConnectError } from "@connectrpc/connect";
import type { ErrorCode, HlvmError } from "@hlvm/errors/hlvm-error";
import { ErrorClass, ModelErrorSchema } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { FieldError } from "./fields.ts";

/** An error in the shape and with the status that a protocol's clients know. */
export interface DoorError {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** What stands in the body, and in a stream that fails. */
  readonly body: object;
}

export type Protocol = "openai" | "anthropic";

interface Known {
  readonly status: number;
  readonly openai: string;
  readonly anthropic: string;
}

const BY_CODE: Readonly<Record<ErrorCode, Known>> = {
  invalid_argument: { status: 400, openai: "invalid_request_error", anthropic: "invalid_request_error" },
  failed_precondition: { status: 400, openai: "invalid_request_error", anthropic: "invalid_request_error" },
  unimplemented: { status: 400, openai: "invalid_request_error", anthropic: "invalid_request_error" },
  already_exists: { status: 400, openai: "invalid_request_error", anthropic: "invalid_request_error" },
  unauthenticated: { status: 401, openai: "authentication_error", anthropic: "authentication_error" },
  permission_denied: { status: 403, openai: "permission_error", anthropic: "permission_error" },
  not_found: { status: 404, openai: "invalid_request_error", anthropic: "not_found_error" },
  resource_exhausted: { status: 429, openai: "rate_limit_error", anthropic: "rate_limit_error" },
  cancelled: { status: 499, openai: "server_error", anthropic: "api_error" },
  internal: { status: 500, openai: "server_error", anthropic: "api_error" },
  unavailable: { status: 503, openai: "server_error", anthropic: "overloaded_error" },
  deadline_exceeded: { status: 504, openai: "server_error", anthropic: "timeout_error" },
};
const BY_REASON: Readonly<Record<string, Known>> = {
  budget_exhausted: { status: 402, openai: "insufficient_quota", anthropic: "billing_error" },
  price_unknown: { status: 402, openai: "insufficient_quota", anthropic: "billing_error" },
  body_too_large: { status: 413, openai: "invalid_request_error", anthropic: "request_too_large" },
  attachment_too_large: { status: 413, openai: "invalid_request_error", anthropic: "request_too_large" },
};
/** As OpenAI's clients know them; others have our own word. */
const OPENAI_CODES: Readonly<Record<string, string>> = {
  token_missing: "invalid_api_key",
  token_refused: "invalid_api_key",
  login_needed: "invalid_api_key",
  budget_exhausted: "insufficient_quota",
};

/** What a client is told, in its own protocol. */
export function doorError(protocol: Protocol, error: HlvmError): DoorError {
  const known = BY_REASON[error.reason] ?? BY_CODE[error.code];
  const detail = error.cause instanceof ConnectError ? error.cause.findDetails(ModelErrorSchema)[0] : undefined;
  const overflows = detail?.class === ErrorClass.CONTEXT_OVERFLOW;
  const isQuota = known.status === 402;
  // OpenAI has it as a 429, Anthropic as a 402.
  const status = isQuota && protocol === "openai" ? 429 : known.status;
  const seconds = Math.ceil((detail?.retryAfterMilliseconds ?? 0) / 1_000);
  const message = [error.message, error.advice].filter((text) => text !== "").join(" ");
  return {
    status,
    headers: {
      ...(seconds > 0 ? { "retry-after": String(seconds) } : {}),
      // The stock SDKs would ask again, and be refused again.
      ...(isQuota ? { "x-should-retry": "false" } : {}),
      ...(status === 401 ? { "www-authenticate": "Bearer" } : {}),
    },
    body: protocol === "openai" ? openaiBody(error, message, known.openai, overflows) : anthropicBody(message, known.anthropic, overflows),
  };
}

function openaiBody(error: HlvmError, message: string, type: string, overflows: boolean): object {
  const isRateLimit = type === "rate_limit_error";
  const code = overflows ? "context_length_exceeded" : isRateLimit ? "rate_limit_exceeded" : (OPENAI_CODES[error.reason] ?? error.reason);
  return { error: { message, type, param: error instanceof FieldError ? error.field : null, code } };
}

/** Clients tell by its first words that a prompt does not fit, and shorten theirs. */
function anthropicBody(message: string, type: string, overflows: boolean): object {
  return { type: "error", error: { type, message: overflows ? `prompt is too long: ${message}` : message } };
}
