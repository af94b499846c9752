import { FinishReason, type Thinking, type ToolCallPart, type Usage } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { opaqueText } from "./content.ts";
import type { AnswerEvent } from "../../domain/model-calls.ts";
import type { AnswerWriter, CallHead, StreamPiece } from "./door.ts";
import type { ResponseTools } from "./response-tools.ts";
import { CALL_MARK } from "./write-messages.ts";

type Item = { readonly id: string; readonly type: string } & Record<string, unknown>;

/** A response, as OpenAI's SDK reads it: items one after the other, each told as it begins, grows and ends. */
export class ResponsesWriter implements AnswerWriter {
  readonly #head: CallHead;
  readonly #echo: object;
  readonly #tools: Pick<ResponseTools, "named">;
  readonly #items: Item[] = [];
  /** What the last item says, while it is being written. */
  #open: { readonly kind: "message" | "reasoning"; text: string } | undefined;
  #usage: Usage | undefined;
  #status = "in_progress";
  #incomplete: object | null = null;
  #sequence = 0;

  /** @param echo what a response repeats of its request @param tools as its client knows them */
  constructor(head: CallHead, echo: object, tools: Pick<ResponseTools, "named">) {
    this.#tools = tools;
    this.#head = head;
    this.#echo = echo;
  }

  begin(): StreamPiece[] {
    return [
      this.#piece("response.created", { response: this.#response() }),
      this.#piece("response.in_progress", { response: this.#response() }),
    ];
  }

  write(event: AnswerEvent): StreamPiece[] {
    switch (event.case) {
      case "textDelta":
        return this.#say("message", event.value);
      case "thinkingDelta":
        return this.#say("reasoning", event.value);
      case "thinking":
        return this.#think(event.value);
      case "toolCall":
        return this.#call(event.value);
      case "usage":
        this.#usage = event.value;
        return [];
      case "finish":
        return this.#finish(event.value.reason, event.value.detail);
      case "alive":
        return [{ comment: "alive" }];
      default:
        return [];
    }
  }

  whole(): unknown {
    return this.#response();
  }

  /** A stream that fails says so in its last response, and in an error of its own. */
  fail({ error }: { readonly error?: { readonly code?: unknown; readonly message?: unknown; readonly param?: unknown } }): StreamPiece[] {
    this.#status = "failed";
    const { code, message, param = null } = error ?? {};
    const response = { ...(this.#response() as object), error: { code, message } };
    return [this.#piece("response.failed", { response }), this.#piece("error", { code, message, param })];
  }

  #say(kind: "message" | "reasoning", delta: string): StreamPiece[] {
    const begun = this.#open?.kind === kind ? [] : [...this.#close(), ...this.#begin(kind)];
    this.#open!.text += delta;
    const type = kind === "message" ? "response.output_text.delta" : "response.reasoning_summary_text.delta";
    return [...begun, this.#piece(type, { ...this.#place(kind), delta, ...(kind === "message" ? { logprobs: [] } : {}) })];
  }

  #begin(kind: "message" | "reasoning"): StreamPiece[] {
    this.#open = { kind, text: "" };
    if (kind === "message") {
      const added = this.#add({ type: "message", role: "assistant", status: "in_progress", content: [] }, "msg");
      return [added, this.#piece("response.content_part.added", { ...this.#place(kind), part: outputText("") })];
    }
    const added = this.#add({ type: "reasoning", summary: [] }, "rs");
    return [added, this.#piece("response.reasoning_summary_part.added", { ...this.#place(kind), part: summaryText("") })];
  }

  #close(encrypted = ""): StreamPiece[] {
    const open = this.#open;
    if (open === undefined) return [];
    this.#open = undefined;
    const { kind, text } = open;
    const place = this.#place(kind);
    if (kind === "message") {
      const part = outputText(text);
      return [
        this.#piece("response.output_text.done", { ...place, text, logprobs: [] }),
        this.#piece("response.content_part.done", { ...place, part }),
        this.#done({ status: "completed", content: [part] }),
      ];
    }
    const part = summaryText(text);
    return [
      this.#piece("response.reasoning_summary_text.done", { ...place, text }),
      this.#piece("response.reasoning_summary_part.done", { ...place, part }),
      this.#done({ summary: [part], ...(encrypted === "" ? {} : { encrypted_content: encrypted }) }),
    ];
  }

  #think({ text, providerData }: Thinking): StreamPiece[] {
    const encrypted = opaqueText(providerData);
    if (this.#open?.kind === "reasoning") return this.#close(encrypted);
    if (text !== "") return [...this.#say("reasoning", text), ...this.#close(encrypted)];
    return encrypted === "" ? [] : this.#seal(encrypted);
  }

  /** What a provider wants back, without words. */
  #seal(encrypted: string): StreamPiece[] {
    return [...this.#close(), this.#add({ type: "reasoning", summary: [] }, "rs"), this.#done({ encrypted_content: encrypted })];
  }

  #call({ id, tool, argumentsJson, providerData }: ToolCallPart): StreamPiece[] {
    const sealed = providerData.length === 0 ? [] : this.#seal(`${CALL_MARK}${opaqueText(providerData)}`);
    const named = this.#tools.named(tool);
    const item = { type: "function_call", call_id: id, ...named, arguments: "", status: "in_progress" };
    const added = [...this.#close(), this.#add(item, "fc")];
    const place = this.#itemPlace();
    return [
      ...sealed,
      ...added,
      this.#piece("response.function_call_arguments.delta", { ...place, delta: argumentsJson }),
      this.#piece("response.function_call_arguments.done", { ...place, name: named.name, arguments: argumentsJson }),
      this.#done({ arguments: argumentsJson, status: "completed" }),
    ];
  }

  #finish(reason: FinishReason, detail: string): StreamPiece[] {
    const closed = this.#close();
    const refused = reason === FinishReason.REFUSAL ? this.#refuse(detail || "The model refused to answer.") : [];
    const isCut = reason === FinishReason.LENGTH;
    this.#status = isCut ? "incomplete" : "completed";
    this.#incomplete = isCut ? { reason: "max_output_tokens" } : null;
    return [...closed, ...refused, this.#piece(`response.${this.#status}`, { response: this.#response() })];
  }

  #refuse(refusal: string): StreamPiece[] {
    const part = { type: "refusal", refusal };
    const added = this.#add({ type: "message", role: "assistant", status: "in_progress", content: [] }, "msg");
    const place = this.#place("message");
    return [
      added,
      this.#piece("response.content_part.added", { ...place, part: { type: "refusal", refusal: "" } }),
      this.#piece("response.refusal.delta", { ...place, delta: refusal }),
      this.#piece("response.refusal.done", { ...place, refusal }),
      this.#piece("response.content_part.done", { ...place, part }),
      this.#done({ status: "completed", content: [part] }),
    ];
  }

  #add(fields: { readonly type: string } & Record<string, unknown>, prefix: string): StreamPiece {
    const item: Item = { id: `${prefix}_${this.#head.id}_${this.#items.length}`, ...fields };
    this.#items.push(item);
    return this.#piece("response.output_item.added", { output_index: this.#items.length - 1, item });
  }

  /** The last item is whole. */
  #done(fields: object): StreamPiece {
    const index = this.#items.length - 1;
    this.#items[index] = { ...this.#items[index]!, ...fields };
    return this.#piece("response.output_item.done", { output_index: index, item: this.#items[index] });
  }

  #itemPlace(): object {
    return { item_id: this.#items.at(-1)!.id, output_index: this.#items.length - 1 };
  }

  #place(kind: "message" | "reasoning"): object {
    return { ...this.#itemPlace(), ...(kind === "message" ? { content_index: 0 } : { summary_index: 0 }) };
  }

  #piece(type: string, fields: object): StreamPiece {
    return { event: type, data: { type, sequence_number: this.#sequence++, ...fields } };
  }

  #response(): unknown {
    const { id, model, created } = this.#head;
    return {
      id: `resp_${id}`,
      object: "response",
      created_at: created,
      status: this.#status,
      error: null,
      incomplete_details: this.#incomplete,
      model,
      previous_response_id: null,
      store: false,
      output: [...this.#items],
      usage: this.#status === "in_progress" ? null : usageOf(this.#usage),
      ...this.#echo,
    };
  }
}

function outputText(text: string): object {
  return { type: "output_text", text, annotations: [], logprobs: [] };
}

function summaryText(text: string): object {
  return { type: "summary_text", text };
}

function usageOf(usage: Usage | undefined): object {
  const { inputTokens = 0n, cacheReadTokens = 0n, cacheWriteTokens = 0n, outputTokens = 0n, reasoningTokens = 0n } = usage ?? {};
  const input = Number(inputTokens + cacheReadTokens + cacheWriteTokens);
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: Number(cacheReadTokens) },
    output_tokens: Number(outputTokens),
    output_tokens_details: { reasoning_tokens: Number(reasoningTokens) },
    total_tokens: input + Number(outputTokens),
  };
}
