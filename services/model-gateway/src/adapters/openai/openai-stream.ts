import type OpenAI from "openai";
import type { Delta, Finish, Usage } from "../../domain/generation.ts";
import { HeldCalls } from "../held-calls.ts";
import { sealProviderData } from "../provider-data.ts";
import { readFailure } from "../read-failure.ts";
import { OPENAI } from "./openai-request.ts";

type Event = OpenAI.Responses.ResponseStreamEvent;
type Item = OpenAI.Responses.ResponseOutputItem;

/** The deltas of a streamed response. Without a closing `response.…` event it gives no `finish`: the stream was cut. */
export async function* readOpenaiStream(model: string, events: AsyncIterable<Event>): AsyncGenerator<Delta, void> {
  const held = new HeldCalls();
  let refusal = "";
  for await (const event of events) {
    switch (event.type) {
      case "response.output_text.delta":
        yield { kind: "text", text: event.delta };
        break;
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        yield { kind: "thinking-delta", text: event.delta };
        break;
      case "response.refusal.delta":
        refusal += event.delta;
        break;
      case "response.output_item.done":
        yield* endItem(model, event.item, held);
        break;
      case "response.failed":
      case "error":
        throw readFailure(OPENAI, { body: event.type === "error" ? event : event.response, cause: new Error(`a ${event.type} event`) });
      case "response.completed":
      case "response.incomplete": {
        const finish = finishOf(event.response, refusal);
        yield* held.settle(finish.reason);
        if (event.response.usage) yield { kind: "usage", ...usageOf(event.response.usage) };
        yield { kind: "finish", ...finish };
      }
    }
  }
}

function* endItem(model: string, item: Item, held: HeldCalls): Generator<Delta> {
  if (item.type === "function_call") yield* held.add({ id: item.call_id, tool: item.name, argumentsJson: item.arguments });
  if (item.type !== "reasoning") return;
  const text = [...item.summary, ...(item.content ?? [])].map((piece) => piece.text).join("\n\n");
  // Without the encrypted form the provider cannot take it back: it stores nothing for us.
  const data = item.encrypted_content ? sealProviderData(OPENAI, model, item) : new Uint8Array();
  if (text !== "" || data.length > 0) yield { kind: "thinking", text, providerData: data };
}

function finishOf(response: OpenAI.Responses.Response, refusal: string): Finish {
  if (refusal !== "") return { reason: "refusal", detail: refusal };
  const why = response.incomplete_details?.reason;
  if (why === "content_filter") return { reason: "refusal", detail: "The provider's content filter ended the answer." };
  if (why !== undefined) return { reason: "length", detail: "" };
  return { reason: response.output.some((item) => item.type === "function_call") ? "tool-calls" : "stop", detail: "" };
}

/** `input_tokens` counts what the cache gave and took too. */
function usageOf(usage: OpenAI.Responses.ResponseUsage): Usage {
  const cacheRead = usage.input_tokens_details?.cached_tokens ?? 0;
  const cacheWrite = usage.input_tokens_details?.cache_write_tokens ?? 0;
  return {
    input: Math.max(0, usage.input_tokens - cacheRead - cacheWrite),
    output: usage.output_tokens,
    cacheRead,
    cacheWrite,
    reasoning: usage.output_tokens_details?.reasoning_tokens ?? 0,
  };
}
