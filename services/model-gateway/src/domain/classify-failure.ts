import type { ErrorCode } from "@hlvm/errors/hlvm-error";
import { ModelError, type ErrorClass } from "./model-error.ts";

/** What is known of a provider's failure, in its own words. */
export interface ProviderFailure {
  /** HTTP status; undefined for an error inside a stream and for one of the network. */
  readonly status: number | undefined;
  /** Every word that the provider or the network used to name it: type, code, error_code, status word, errno, class of the error. */
  readonly names: readonly string[];
  /** What the provider itself called it; empty where it said nothing. */
  readonly providerCode: string;
  readonly message: string;
  /** 0 where the provider did not say. */
  readonly retryAfterMilliseconds: number;
  readonly cause: unknown;
}

interface Verdict {
  readonly class: ErrorClass;
  readonly reason: string;
  /** Completes "PROVIDER …: its own words". */
  readonly says: string;
  readonly advice: string;
  readonly code?: ErrorCode;
}

const VERDICTS = {
  keyRefused: {
    class: "permanent",
    reason: "key_refused",
    says: "refused the key",
    advice: "Set {key} to a key that is valid, and start again.",
  },
  notPermitted: {
    class: "permanent",
    reason: "not_permitted",
    says: "does not permit this",
    advice: "Ask whoever owns the key for access, or take another model with --model.",
    code: "permission_denied",
  },
  spent: {
    class: "permanent",
    reason: "quota_spent",
    says: "has no credit left for this key",
    advice: "Raise the limit or pay the bill at the provider, or take another model with --model.",
    code: "resource_exhausted",
  },
  notFound: {
    class: "permanent",
    reason: "model_not_found",
    says: "does not know this model",
    advice: "Check the name after {provider}/ against the provider's list, and the URL where one is set.",
    code: "not_found",
  },
  badRequest: {
    class: "permanent",
    reason: "request_refused",
    says: "refused the request",
    advice: "Take another model with --model; if it stays, report the provider's words.",
    code: "invalid_argument",
  },
  overflow: {
    class: "context_overflow",
    reason: "context_overflow",
    says: "cannot hold this much context",
    advice: "Begin a new session, give it less at once, or take a model with a larger context window.",
  },
  limited: {
    class: "rate_limit",
    reason: "rate_limited",
    says: "is limiting requests",
    advice: "Wait a little and ask again, or take another model with --model.",
  },
  passing: {
    class: "transient",
    reason: "provider_failing",
    says: "is failing at the moment",
    advice: "Ask again in a little while, or take another model with --model.",
  },
  unreachable: {
    class: "transient",
    reason: "provider_unreachable",
    says: "cannot be reached",
    advice: "Check that it runs and that {url} is right.",
  },
  dropped: {
    class: "transient",
    reason: "connection_lost",
    says: "broke off the connection",
    advice: "Ask again; if it stays, look at its log.",
  },
  garbled: {
    class: "transient",
    reason: "stream_malformed",
    says: "sent an answer that cannot be read",
    advice: "Ask again; if it stays, look at its log.",
  },
  slow: { class: "timeout", reason: "provider_timeout", says: "took too long", advice: "Ask again, or ask for less at once." },
  other: {
    class: "unknown",
    reason: "model_failed",
    says: "failed",
    advice: "Ask again; if it stays, take another model with --model and report the provider's words.",
  },
} satisfies Record<string, Verdict>;

type VerdictName = keyof typeof VERDICTS;

/** What a provider's word means, whatever the HTTP status: it is more exact, and inside a stream there is no status. */
const BY_NAME: Readonly<Record<string, VerdictName>> = {
  // Anthropic
  enforced_spend_limit_reached: "spent", // comes as a 429, and waiting does not help
  contract_spend_limit_reached: "spent",
  billing_error: "spent",
  authentication_error: "keyRefused",
  permission_error: "notPermitted",
  not_found_error: "notFound",
  request_too_large: "overflow",
  rate_limit_error: "limited",
  timeout_error: "passing",
  api_error: "passing",
  overloaded_error: "passing",
  // OpenAI
  insufficient_quota: "spent",
  billing_hard_limit_reached: "spent",
  billing_not_active: "spent",
  invalid_api_key: "keyRefused",
  model_not_found: "notFound",
  context_length_exceeded: "overflow",
  rate_limit_exceeded: "limited",
  server_error: "passing",
  server_is_overloaded: "passing",
  slow_down: "limited",
  // Google
  UNAUTHENTICATED: "keyRefused",
  PERMISSION_DENIED: "notPermitted",
  NOT_FOUND: "notFound",
  RESOURCE_EXHAUSTED: "limited",
  UNAVAILABLE: "passing",
  INTERNAL: "passing",
  DEADLINE_EXCEEDED: "passing",
  // llama-server
  exceed_context_size_error: "overflow",
  unavailable_error: "passing", // the model is still loading
  // The network
  ECONNREFUSED: "unreachable",
  ECONNRESET: "dropped",
  EPIPE: "dropped",
  ERR_STREAM_PREMATURE_CLOSE: "dropped",
  ENOTFOUND: "unreachable",
  EAI_AGAIN: "unreachable",
  EHOSTUNREACH: "unreachable",
  ENETUNREACH: "unreachable",
  ETIMEDOUT: "unreachable",
  UND_ERR_SOCKET: "dropped",
  UND_ERR_CONNECT_TIMEOUT: "unreachable",
  UND_ERR_HEADERS_TIMEOUT: "slow",
  UND_ERR_BODY_TIMEOUT: "slow",
  // What parsing it ends in
  SyntaxError: "garbled",
};

const BY_STATUS: Readonly<Record<number, VerdictName>> = {
  401: "keyRefused",
  402: "spent",
  403: "notPermitted",
  404: "notFound",
  408: "passing",
  409: "passing",
  413: "overflow",
  425: "passing",
  429: "limited",
};

/** Providers that name too long a prompt only in their message. */
const OVERFLOW_WORDS =
  /prompt is too long|input is too long|maximum (?:context|prompt|model) length|exceeds? (?:the )?(?:available )?context (?:size|limit|window|length)|exceeds the maximum number of tokens|context window|too many (?:input )?tokens/i;

const KEY_VARIABLES: Readonly<Record<string, string>> = {
  anthropic: "ANTHROPIC_API_KEY",
  openai: "OPENAI_API_KEY",
  "openai-compatible": "HLVM_OPENAI_COMPATIBLE_API_KEY",
};
const URL_VARIABLES: Readonly<Record<string, string>> = {
  anthropic: "ANTHROPIC_BASE_URL",
  openai: "OPENAI_BASE_URL",
  "openai-compatible": "HLVM_OPENAI_COMPATIBLE_URL",
  llama: "HLVM_LLAMA_URLS",
  ollama: "HLVM_OLLAMA_URL",
};
const LONGEST_WORDS = 500;

/** The one table from a provider's failure to what it means. */
export function classifyFailure(provider: string, failure: ProviderFailure): ModelError {
  const verdict: Verdict = VERDICTS[verdictName(failure)];
  const words = failure.message.replaceAll(/\s+/g, " ").trim().slice(0, LONGEST_WORDS);
  return new ModelError({
    ...verdict,
    message: `${provider} ${verdict.says}: ${words === "" ? `HTTP ${failure.status ?? "error"}` : words}`,
    advice: verdict.advice
      .replace("{key}", KEY_VARIABLES[provider] ?? "its key")
      .replace("{url}", URL_VARIABLES[provider] ?? "its URL")
      .replace("{provider}", provider),
    provider,
    providerCode: failure.providerCode,
    retryAfterMilliseconds: failure.retryAfterMilliseconds,
    cause: failure.cause,
  });
}

function verdictName(failure: ProviderFailure): VerdictName {
  const named = failure.names.flatMap((name) => BY_NAME[name] ?? [])[0];
  if (named !== undefined) return named;
  if ((failure.status === undefined || (failure.status >= 400 && failure.status < 500)) && OVERFLOW_WORDS.test(failure.message))
    return "overflow";
  if (failure.status === undefined) return failure.names.includes("invalid_request_error") ? "badRequest" : "other";
  const byStatus = BY_STATUS[failure.status];
  if (byStatus !== undefined) return byStatus;
  if (failure.status >= 500) return "passing";
  return failure.status >= 400 ? "badRequest" : "other";
}
