import type { Provider } from "../../domain/provider.ts";
import { AnthropicProvider } from "../anthropic/anthropic-provider.ts";
import { ChatCompletionsProvider } from "../chat-completions/chat-completions-provider.ts";
import { LlamaProvider } from "../llama/llama-provider.ts";
import { OpenaiProvider } from "../openai/openai-provider.ts";

/** How an adapter's provider speaks. */
export interface Protocol {
  readonly provider: string;
  readonly model: string;
  /** Where its fixtures lie, and where real recordings of it do. */
  readonly folder: string;
  readonly recordings: readonly string[];
  readonly create: (url: string, silenceMilliseconds?: number) => Provider;
  /** What it answers on other paths. */
  readonly fixed: Readonly<Record<string, unknown>>;
  readonly path: string;
  readonly closing: string;
  /** The body of an error answer. */
  readonly errorBody: (type: string, code: string | null, message: string) => unknown;
  readonly overflow: { readonly type: string; readonly code: string | null; readonly message: string };
  readonly cacheWrite: number;
  readonly reasoning: number;
  /** Where and with which fields it counts a request; undefined where it does not. */
  readonly counts: { readonly path: string; readonly fields: readonly string[] } | undefined;
}

const KEY = "key-of-the-suite";
const openaiError: Protocol["errorBody"] = (type, code, message) => ({ error: { type, code, message, param: null } });
const openaiOverflow = {
  type: "invalid_request_error",
  code: "context_length_exceeded",
  message: "This model's maximum context length is 100 tokens.",
};
const chat = {
  folder: "openai-chat",
  recordings: ["openai-chat", "openai-compatible"],
  closing: "data: [DONE]\n\n",
  errorBody: openaiError,
  cacheWrite: 0,
  reasoning: 2,
} as const;

export const protocols: readonly Protocol[] = [
  {
    provider: "anthropic",
    model: "claude-opus-5-5",
    folder: "anthropic",
    recordings: ["anthropic"],
    create: (url, silenceMilliseconds) => new AnthropicProvider({ apiKey: KEY, baseUrl: url, silenceMilliseconds }),
    fixed: {},
    path: "/v1/messages",
    closing: "",
    errorBody: (type, code, message) => ({
      type: "error",
      error: { type, message, ...(code === null ? {} : { details: { error_code: code } }) },
    }),
    overflow: { type: "invalid_request_error", code: null, message: "prompt is too long: 1200000 tokens > 1000000 maximum" },
    cacheWrite: 7,
    reasoning: 0,
    counts: { path: "/v1/messages/count_tokens", fields: ["model", "system", "messages", "tools"] },
  },
  {
    provider: "openai",
    model: "gpt-5.5",
    folder: "openai-responses",
    recordings: ["openai-responses"],
    create: (url, silenceMilliseconds) => new OpenaiProvider({ apiKey: KEY, baseUrl: `${url}/v1`, silenceMilliseconds }),
    fixed: {},
    path: "/v1/responses",
    closing: "",
    errorBody: openaiError,
    overflow: openaiOverflow,
    cacheWrite: 7,
    reasoning: 2,
    counts: { path: "/v1/responses/input_tokens", fields: ["model", "input", "tools", "reasoning"] },
  },
  {
    ...chat,
    provider: "openai-compatible",
    model: "m",
    create: (url, silenceMilliseconds) =>
      new ChatCompletionsProvider({ name: "openai-compatible", baseUrl: `${url}/v1`, apiKey: KEY, silenceMilliseconds }),
    fixed: {},
    path: "/v1/chat/completions",
    overflow: openaiOverflow,
    counts: undefined,
  },
  {
    ...chat,
    provider: "llama",
    model: "m",
    create: (url, silenceMilliseconds) => new LlamaProvider({ urls: [url], silenceMilliseconds }),
    fixed: {
      "/health": { status: "ok" },
      "/props": { total_slots: 2, default_generation_settings: { n_ctx: 8192 } },
      "/v1/models": { data: [{ id: "m", meta: { n_params: 8e9 } }] },
    },
    path: "/v1/chat/completions",
    overflow: { type: "exceed_context_size_error", code: null, message: "the request exceeds the available context size" },
    counts: { path: "/v1/chat/completions/input_tokens", fields: ["model", "messages", "tools"] },
  },
];

/** Events as each provider frames them: all name the event in a line of its own where it has a type. */
export function frame(line: string): string {
  const type = (JSON.parse(line) as { type?: string }).type;
  return `${type === undefined ? "" : `event: ${type}\n`}data: ${line}\n\n`;
}
