import type Anthropic from "@anthropic-ai/sdk";
import type { Delta, Finish, Usage } from "../../domain/generation.ts";
import { HeldCalls } from "../held-calls.ts";
import { sealProviderData } from "../provider-data.ts";
import { ANTHROPIC, type SealedThinking } from "./anthropic-request.ts";

type Event = Anthropic.RawMessageStreamEvent;

interface OpenBlock {
  readonly start: Anthropic.RawContentBlockStartEvent["content_block"];
  text: string;
  signature: string;
}

/** The deltas of a streamed message. Without `message_stop` it gives no `finish`: the stream was cut. */
export async function* readAnthropicStream(model: string, events: AsyncIterable<Event>): AsyncGenerator<Delta, void> {
  const blocks = new Map<number, OpenBlock>();
  const held = new HeldCalls();
  let usage: Partial<Anthropic.Usage> = {};
  let finish: Finish = { reason: "stop", detail: "" };
  for await (const event of events) {
    switch (event.type) {
      case "message_start":
        usage = { ...event.message.usage };
        break;
      case "content_block_start":
        blocks.set(event.index, { start: event.content_block, text: "", signature: "" });
        if (event.content_block.type === "text" && event.content_block.text !== "") yield { kind: "text", text: event.content_block.text };
        break;
      case "content_block_delta":
        yield* takeDelta(blocks.get(event.index), event.delta);
        break;
      case "content_block_stop":
        yield* endBlock(model, blocks.get(event.index), held);
        blocks.delete(event.index);
        break;
      case "message_delta":
        // Counts here are totals, and where one is missing the one of the start stands.
        usage = { ...usage, ...Object.fromEntries(Object.entries(event.usage ?? {}).filter(([, count]) => count !== null)) };
        finish = finishOf(event.delta);
        break;
      case "message_stop":
        yield* held.settle(finish.reason);
        yield { kind: "usage", ...usageOf(usage) };
        yield { kind: "finish", ...finish };
    }
  }
}

function* takeDelta(block: OpenBlock | undefined, delta: Anthropic.RawContentBlockDelta): Generator<Delta> {
  if (block === undefined) return;
  switch (delta.type) {
    case "text_delta":
      if (delta.text !== "") yield { kind: "text", text: delta.text };
      return;
    case "thinking_delta":
      block.text += delta.thinking;
      if (delta.thinking !== "") yield { kind: "thinking-delta", text: delta.thinking };
      return;
    case "signature_delta":
      block.signature += delta.signature;
      return;
    case "input_json_delta":
      block.text += delta.partial_json;
  }
}

function* endBlock(model: string, block: OpenBlock | undefined, held: HeldCalls): Generator<Delta> {
  switch (block?.start.type) {
    case "tool_use": {
      // A call may come whole in its start, without any delta.
      const written = block.text === "" ? JSON.stringify(block.start.input ?? {}) : block.text;
      yield* held.add({ id: block.start.id, tool: block.start.name, argumentsJson: written });
      return;
    }
    case "thinking":
      yield thinking(model, block.text, { type: "thinking", thinking: block.text, signature: block.signature || block.start.signature });
      return;
    case "redacted_thinking":
      yield thinking(model, "", { type: "redacted_thinking", data: block.start.data });
  }
}

function thinking(model: string, text: string, block: SealedThinking): Delta {
  return { kind: "thinking", text, providerData: sealProviderData(ANTHROPIC, model, block) };
}

function finishOf(delta: Anthropic.RawMessageDeltaEvent["delta"]): Finish {
  switch (delta.stop_reason) {
    case "refusal":
      return { reason: "refusal", detail: delta.stop_details?.explanation ?? "" };
    case "max_tokens":
    case "model_context_window_exceeded":
      return { reason: "length", detail: "" };
    case "tool_use":
      return { reason: "tool-calls", detail: "" };
    default:
      return { reason: "stop", detail: "" };
  }
}

/** `input_tokens` leaves out what the cache gave or took, as ours does. */
function usageOf(usage: Partial<Anthropic.Usage>): Usage {
  const kept = usage.cache_creation?.ephemeral_1h_input_tokens ?? 0;
  return {
    input: usage.input_tokens ?? 0,
    output: usage.output_tokens ?? 0,
    cacheRead: usage.cache_read_input_tokens ?? 0,
    cacheWrite: usage.cache_creation_input_tokens ?? 0,
    reasoning: usage.output_tokens_details?.thinking_tokens ?? 0,
    ...(kept === 0 ? {} : { cacheWriteHour: kept }),
  };
}
