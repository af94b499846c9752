import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { readFailure } from "./read-failure.ts";

/** What Google really sent; beside the repository where it is there. */
const GOOGLE = fileURLToPath(new URL("../../../../../shared/data/wire/google/google-429-retry-info.json", import.meta.url));
const reason = existsSync(GOOGLE) ? "" : ` (skipped: there is no ${GOOGLE})`;

const anthropic = (type: string, message = "m", errorCode?: string): object => ({
  type: "error",
  error: { type, message, details: errorCode === undefined ? null : { error_code: errorCode } },
});
const openai = (type: string | null, code: string | null, message = "m"): object => ({ error: { type, code, message } });
const system = (code: string): Error => new TypeError("fetch failed", { cause: Object.assign(new Error(code), { code }) });

/** What providers write where a prompt is too long, in their own words. */
const OVERFLOWS: readonly (readonly [string, object])[] = [
  ["Anthropic", anthropic("invalid_request_error", "prompt is too long: 214000 tokens > 200000 maximum")],
  [
    "Anthropic, with the answer",
    anthropic("invalid_request_error", "input length and `max_tokens` exceed context limit: 190000 + 16384 > 200000"),
  ],
  ["OpenAI", openai("invalid_request_error", "context_length_exceeded", "Your input exceeds the context window of this model.")],
  ["vLLM", openai("BadRequestError", null, "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.")],
  [
    "vLLM, of the prompt alone",
    openai("BadRequestError", null, "The decoder prompt (length 9000) is longer than the maximum model length of 8192."),
  ],
  ["llama-server", openai("exceed_context_size_error", null, "the request exceeds the available context size")],
  ["xAI", { code: "invalid", error: "This model's maximum prompt length is 131072 but the request contains 140000 tokens." }],
  [
    "Google",
    [
      {
        error: {
          code: 400,
          status: "INVALID_ARGUMENT",
          message: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        },
      },
    ],
  ],
  ["Bedrock", { message: "Input is too long for requested model." }],
];

describe("readFailure", () => {
  it.each(OVERFLOWS)("knows that a prompt is too long from the words of %s", (_, body) => {
    expect(readFailure("openai-compatible", { status: 400, body, cause: new Error(JSON.stringify(body)) })).toMatchObject({
      class: "context_overflow",
      code: "failed_precondition",
      isRetried: false,
    });
  });

  it.each([
    [
      "a spent limit that comes as 429",
      { status: 429, body: anthropic("rate_limit_error", "m", "enforced_spend_limit_reached") },
      "permanent",
      "quota_spent",
    ],
    ["an error inside a stream, which has no status", { body: anthropic("overloaded_error") }, "transient", "provider_failing"],
    [
      "too long a prompt",
      { status: 400, body: anthropic("invalid_request_error", "prompt is too long: 9 > 8") },
      "context_overflow",
      "context_overflow",
    ],
    ["a wrong parameter", { status: 400, body: anthropic("invalid_request_error", "temperature: no") }, "permanent", "request_refused"],
    ["a spent quota", { status: 429, body: openai("insufficient_quota", "insufficient_quota") }, "permanent", "quota_spent"],
    ["a wrong key", { status: 401, body: openai("invalid_request_error", "invalid_api_key") }, "permanent", "key_refused"],
    ["a region without access", { status: 403, body: openai(null, null) }, "permanent", "not_permitted"],
    ["an unknown model", { status: 400, body: openai(null, "model_not_found") }, "permanent", "model_not_found"],
    ["a model that still loads", { status: 503, body: openai("unavailable_error", null) }, "transient", "provider_failing"],
    [
      "output that llama-server could not parse",
      { status: 500, body: openai("server_error", null, "Failed to parse input") },
      "transient",
      "provider_failing",
    ],
    ["a gateway's page", { status: 502, body: undefined }, "transient", "provider_failing"],
    ["a status that says nothing", { status: 418, body: undefined }, "permanent", "request_refused"],
    ["a refused connection", { cause: system("ECONNREFUSED") }, "transient", "provider_unreachable"],
    ["a reset connection", { cause: system("ECONNRESET") }, "transient", "connection_lost"],
    ["garbage", { cause: new SyntaxError("Unexpected token") }, "transient", "stream_malformed"],
    ["the unheard of", { cause: new Error("odd") }, "unknown", "model_failed"],
  ])("%s", (_what, facts, errorClass, reason) => {
    expect(readFailure("anthropic", { cause: new Error("HTTP"), ...facts })).toMatchObject({ class: errorClass, reason });
  });

  it("reads how long to wait, in every way in which providers say it", () => {
    const wait = (headers: Record<string, string>): number =>
      readFailure("p", { status: 429, headers: new Headers(headers), cause: undefined }).retryAfterMilliseconds;
    expect(wait({ "retry-after": "2.5" })).toBe(2_500);
    expect(wait({ "retry-after-ms": "70", "retry-after": "9" })).toBe(70);
    expect(wait({ "retry-after": new Date(Date.now() + 60_000).toUTCString() })).toBeGreaterThan(50_000);
    expect(wait({ "retry-after": "soon" })).toBe(0);
  });

  it.skipIf(reason !== "")(`reads Google's recorded refusal${reason}`, () => {
    const body: unknown = JSON.parse(readFileSync(GOOGLE, "utf8"));
    expect(readFailure("openai-compatible", { status: 429, body: [body], cause: undefined })).toMatchObject({
      class: "rate_limit",
      retryAfterMilliseconds: 34_400,
    });
  });

  it("says what to set where a key is refused, and bounds the provider's words", () => {
    const error = readFailure("openai", {
      status: 401,
      body: openai(null, "invalid_api_key", `no\n\n${"x".repeat(2_000)}`),
      cause: undefined,
    });
    expect(error.advice).toBe("Set OPENAI_API_KEY to a key that is valid, and start again.");
    expect(error.message.length).toBeLessThan(600);
    expect(error.message).not.toContain("\n");
  });
});
