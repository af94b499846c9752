import type Anthropic from "@anthropic-ai/sdk";
import type { Delta, Finish, Usage } from "../../domain/generation.ts";
import { ModelError } from "../../domain/model-error.ts";
import { HeldCalls } from "../held-calls.ts";
import { sealProviderData } from "../provider-data.ts";
import { ANTHROPIC } from "./anthropic-options.ts";
import type { SealedThinking } from "./anthropic-request.ts";

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
  let usage: Partial<Anthropic.Usage> | undefined;
  let finish: Finish | undefined;
  for await (const event of events) {
    switch (event.type) {
      case "message_start":
        if (usage !== undefined) throw secondMessage();
        usage = { ...event.message.usage };
        for (const block of event.message.content ?? []) yield* takeWhole(model, block, held);
        break;
      case "content_block_start":
        blocks.set(event.index, { start: event.content_block, text: "", signature: "" });
        if (event.content_block.type === "text" && event.content_block.text !== "") yield { kind: "text", text: event.content_block.text };
        break;
      case "content_block_delta":
        for (const delta of takeDelta(blocks.get(event.index), event.delta)) yield delta;
        break;
      case "content_block_stop":
        yield* endBlock(model, blocks.get(event.index), held);
        blocks.delete(event.index);
        break;
      case "message_delta":
        // Counts here are totals, and where one is missing the one of the start stands.
        usage = { ...usage, ...Object.fromEntries(Object.entries(event.usage ?? {}).filter(([, count]) => count !== null)) };
        finish = finishOf(event.delta) ?? finish;
        break;
      case "message_stop":
        finish ??= { reason: "stop", detail: "" };
        yield* held.settle(finish.reason);
        yield { kind: "usage", ...anthropicUsage(usage ?? {}) };
        yield { kind: "finish", ...finish };
        // The provider may keep the connection open, or break it, whatever it has said.
        return;
    }
  }
}

/** A block that stands whole in the message's start. */
function* takeWhole(model: string, block: Anthropic.ContentBlock, held: HeldCalls): Generator<Delta> {
  if (block.type === "text" && block.text !== "") yield { kind: "text", text: block.text };
  if (block.type === "thinking" && block.thinking !== "") yield { kind: "thinking-delta", text: block.thinking };
  const text = block.type === "thinking" ? block.thinking : "";
  yield* endBlock(model, { start: block, text, signature: "" }, held);
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

/** Undefined where a delta says nothing of it. @throws ModelError `turn_paused`, `finish_unknown`: none of them is a clean end */
function finishOf(delta: Anthropic.RawMessageDeltaEvent["delta"]): Finish | undefined {
  switch (delta.stop_reason) {
    case null:
    case undefined:
      return undefined;
    case "refusal":
      return { reason: "refusal", detail: delta.stop_details?.explanation ?? "" };
    case "max_tokens":
    case "model_context_window_exceeded":
      return { reason: "length", detail: "" };
    case "tool_use":
      return { reason: "tool-calls", detail: "" };
    case "end_turn":
    case "stop_sequence":
      return { reason: "stop", detail: "" };
    case "pause_turn":
      throw endedWith(delta.stop_reason, "turn_paused", "paused its turn, as it does for tools that it runs itself; none was offered");
    default:
      throw endedWith(delta.stop_reason, "finish_unknown", "ended its answer with a word that is not known here");
  }
}

function endedWith(word: string, reason: string, says: string): ModelError {
  return new ModelError({
    class: "unknown",
    reason,
    message: `${ANTHROPIC} ${says}: ${JSON.stringify(word.slice(0, 80))}.`,
    advice: "Ask again; if it stays, take another model with --model and report the word.",
    provider: ANTHROPIC,
    providerCode: word.slice(0, 80),
  });
}

function secondMessage(): ModelError {
  return new ModelError({
    class: "transient",
    reason: "stream_malformed",
    message: `${ANTHROPIC} began a second message in one answer.`,
    advice: "Ask again; if it stays, look at what stands between HLVM and the provider.",
    provider: ANTHROPIC,
  });
}

/** `input_tokens` leaves out what the cache gave or took, as ours does. */
export function anthropicUsage(usage: Partial<Anthropic.Usage>): Usage {
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
