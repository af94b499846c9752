import { messageOf } from "@hlvm/errors/message-of";
import { classifyFailure } from "../../domain/classify-failure.ts";
import { ModelError } from "../../domain/model-error.ts";
import type { Fields } from "../fields-of.ts";

export const CLAUDE_CODE = "claude-code";

/** Its own words for what went wrong, in those that Anthropic's API has. */
const NAMES: Readonly<Record<string, string>> = {
  rate_limit: "rate_limit_error",
  overloaded: "overloaded_error",
  billing_error: "billing_error",
  model_not_found: "not_found_error",
  invalid_request: "invalid_request_error",
};

/** What an answer says that is none. @param error the program's word for it; empty where it has none */
export function failureOf(result: Fields, error: string): ModelError {
  const message = typeof result.result === "string" ? result.result : "";
  if (error === "authentication_failed" || error === "oauth_org_not_allowed") return notLoggedIn(message, error);
  return classifyFailure(CLAUDE_CODE, {
    status: typeof result.api_error_status === "number" ? result.api_error_status : undefined,
    names: [...(typeof result.api_error_type === "string" ? [result.api_error_type] : []), NAMES[error] ?? error],
    providerCode: error,
    message,
    retryAfterMilliseconds: 0,
    cause: undefined,
  });
}

function notLoggedIn(words: string, providerCode: string): ModelError {
  return new ModelError({
    class: "permanent",
    reason: "not_logged_in",
    message: `${CLAUDE_CODE} is not logged in: ${words.slice(0, 200)}`,
    advice: "Set HLVM_CLAUDE_CODE_TOKEN to what `claude setup-token` gives, and start again.",
    provider: CLAUDE_CODE,
    providerCode,
  });
}

export function notInstalled(cause: unknown): ModelError {
  return new ModelError({
    class: "permanent",
    reason: "claude_not_installed",
    message: `The program claude cannot be started: ${messageOf(cause)}.`,
    advice: "Set HLVM_CLAUDE_CODE_PATH to where it is installed, and start again.",
    provider: CLAUDE_CODE,
    cause,
  });
}

/** @param end its exit code, or the signal that ended it */
export function endedEarly(end: number | string | null, said: string): ModelError {
  return new ModelError({
    class: "transient",
    reason: "process_ended",
    message: `The program claude ended (${end}) before its answer did${said === "" ? "" : `: ${said}`}.`,
    advice: "Ask again; if it stays, try `claude -p hello` on the machine of the model gateway.",
    provider: CLAUDE_CODE,
  });
}

export function malformed(line: string, cause: unknown): ModelError {
  return new ModelError({
    class: "transient",
    reason: "stream_malformed",
    message: `${CLAUDE_CODE} wrote a line that is no JSON: ${JSON.stringify(line.slice(0, 80))}.`,
    advice: "Ask again; if it stays, look whether another version of claude is installed.",
    provider: CLAUDE_CODE,
    cause,
  });
}

export function tooMany(most: number): ModelError {
  return new ModelError({
    class: "rate_limit",
    reason: "too_many_processes",
    message: `${most} calls of ${CLAUDE_CODE} are under way, and each is a process.`,
    advice: "Ask again in a little while, or take another model with --model.",
    provider: CLAUDE_CODE,
    retryAfterMilliseconds: 1_000,
  });
}
