import type OpenAI from "openai";
import type { Delta, Finish, Usage } from "../../domain/generation.ts";
import { HeldCalls } from "../held-calls.ts";
import { sealProviderData } from "../provider-data.ts";
import { readFailure } from "../read-failure.ts";
import type { SaidMessages } from "./said-messages.ts";
import { OPENAI } from "./openai-options.ts";

type Event = OpenAI.Responses.ResponseStreamEvent;
type Item = OpenAI.Responses.ResponseOutputItem;

/** Between two messages of one answer, and between two parts of reasoning. */
const BREAK = "\n\n";

/** The deltas of a streamed response, up to its closing `response.…` event; without that it gives no `finish`: the stream was cut. */
export async function* readOpenaiStream(model: string, events: AsyncIterable<Event>): AsyncGenerator<Delta, void> {
  const answer = new OpenaiAnswer(model);
  for await (const event of events) {
    for (const delta of answer.take(event)) yield delta;
    // The provider may keep the connection open, or break it, whatever it has said.
    if (answer.isOver) return;
  }
}

class OpenaiAnswer {
  readonly #model: string;
  readonly #held = new HeldCalls();
  readonly #messages: SaidMessages["messages"][number][] = [];
  #message = "";
  #breakDue = false;
  #thoughtBreakDue = false;
  #refusal = "";
  #hasCalls = false;
  #hasText = false;
  readonly #ended = new Set<string | undefined>();
  #isOver = false;

  constructor(model: string) {
    this.#model = model;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  *take(event: Event): Generator<Delta> {
    switch (event.type) {
      case "response.output_text.delta":
        yield* this.#say(event.delta);
        break;
      case "response.reasoning_summary_part.added":
        this.#thoughtBreakDue = event.summary_index > 0;
        break;
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        yield { kind: "thinking-delta", text: this.#thoughtBreakDue ? BREAK + event.delta : event.delta };
        this.#thoughtBreakDue = false;
        break;
      case "response.refusal.delta":
        this.#refusal += event.delta;
        break;
      case "response.output_item.done":
        yield* this.#endItem(event.item);
        break;
      case "response.failed":
      case "error":
        throw readFailure(OPENAI, { body: event.type === "error" ? event : event.response, cause: new Error(`a ${event.type} event`) });
      case "response.completed":
      case "response.incomplete":
        yield* this.#end(event.response);
    }
  }

  *#say(text: string): Generator<Delta> {
    if (text === "") return;
    if (this.#breakDue) yield { kind: "text", text: BREAK };
    this.#breakDue = false;
    this.#message += text;
    this.#hasText = true;
    yield { kind: "text", text };
  }

  *#endItem(item: Item): Generator<Delta> {
    this.#ended.add(item.id);
    switch (item.type) {
      case "function_call":
        this.#hasCalls = true;
        yield* this.#held.add({ id: item.call_id, tool: item.name, argumentsJson: item.arguments ?? "" });
        return;
      case "message": {
        // The whole may end with more than was streamed.
        const whole = textOf(item);
        if (whole.startsWith(this.#message)) yield* this.#say(whole.slice(this.#message.length));
        if (this.#message !== "") this.#messages.push({ length: this.#message.length, ...(item.phase ? { phase: item.phase } : {}) });
        this.#breakDue ||= this.#message !== "";
        this.#message = "";
        return;
      }
      case "reasoning": {
        const text = [...(item.summary ?? []), ...(item.content ?? [])].map((piece) => piece.text).join(BREAK);
        this.#thoughtBreakDue = text !== "";
        // Without the encrypted form the provider cannot take it back: it stores nothing for us.
        const data = item.encrypted_content ? sealProviderData(OPENAI, this.#model, item) : new Uint8Array();
        if (text !== "" || data.length > 0) yield { kind: "thinking", text, providerData: data };
      }
    }
  }

  *#end(response: OpenAI.Responses.Response): Generator<Delta> {
    this.#isOver = true;
    // What was not streamed item by item stands in the whole.
    const unended = (response.output ?? []).filter(({ id }) => !this.#ended.has(id));
    for (const item of unended) if (item.type !== "message" || !this.#hasText) yield* this.#endItem(item);
    const finish = this.#finishOf(response);
    if (this.#messages.length > 1 || this.#messages.some(({ phase }) => phase !== undefined)) {
      const data: SaidMessages = { type: "said_messages", messages: this.#messages };
      yield { kind: "thinking", text: "", providerData: sealProviderData(OPENAI, this.#model, data) };
    }
    yield* this.#held.settle(finish.reason);
    if (response.usage) yield { kind: "usage", ...usageOf(response.usage) };
    yield { kind: "finish", ...finish };
  }

  #finishOf(response: OpenAI.Responses.Response): Finish {
    if (this.#refusal !== "") return { reason: "refusal", detail: this.#refusal };
    const why = response.incomplete_details?.reason;
    if (why === "content_filter") return { reason: "refusal", detail: "The provider's content filter ended the answer." };
    if (why !== undefined && why !== null) return { reason: "length", detail: "" };
    return { reason: this.#hasCalls ? "tool-calls" : "stop", detail: "" };
  }
}

function textOf({ content }: OpenAI.Responses.ResponseOutputMessage): string {
  return (content ?? []).map((part) => (part.type === "output_text" ? part.text : "")).join("");
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
