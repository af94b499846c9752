import { FinishReason, type Thinking, type ToolCallPart, type Usage } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { opaqueText } from "./content.ts";
import type { AnswerEvent } from "../../domain/model-calls.ts";
import type { AnswerWriter, CallHead, StreamPiece } from "./door.ts";

/** Begins redacted thinking that is nothing of the kind: what a provider wants back with the call after it. It is no base64. */
export const CALL_MARK = "call.";

const REASONS: Readonly<Partial<Record<FinishReason, string>>> = {
  [FinishReason.STOP]: "end_turn",
  [FinishReason.TOOL_CALLS]: "tool_use",
  [FinishReason.LENGTH]: "max_tokens",
  [FinishReason.REFUSAL]: "refusal",
};

type Block = { type: string } & Record<string, unknown>;

/** A message, as Anthropic's SDK reads it: blocks one after the other. */
export class MessagesWriter implements AnswerWriter {
  readonly #head: CallHead;
  readonly #blocks: Block[] = [];
  /** The last block is still being written. */
  #open: "text" | "thinking" | undefined;
  #usage: Usage | undefined;
  #reason: string | null = null;

  constructor(head: CallHead) {
    this.#head = head;
  }

  begin(): StreamPiece[] {
    return [piece("message_start", { message: this.#message([], { input_tokens: this.#head.inputTokens, output_tokens: 0 }) })];
  }

  write(event: AnswerEvent): StreamPiece[] {
    switch (event.case) {
      case "textDelta":
        return [...this.#into("text", { type: "text", text: "" }), this.#grow("text", "text_delta", event.value)];
      case "thinkingDelta":
        return [
          ...this.#into("thinking", { type: "thinking", thinking: "", signature: "" }),
          this.#grow("thinking", "thinking_delta", event.value),
        ];
      case "thinking":
        return this.#sign(event.value);
      case "toolCall":
        return this.#call(event.value);
      case "usage":
        this.#usage = event.value;
        return [];
      case "finish":
        return this.#finish(event.value.reason, event.value.detail);
      case "alive":
        return [piece("ping")];
      default:
        return [];
    }
  }

  whole(): unknown {
    return this.#message(this.#blocks, usageOf(this.#usage));
  }

  /** Ends the block before, where it is another one. */
  #into(kind: "text" | "thinking", block: Block): StreamPiece[] {
    if (this.#open === kind) return [];
    const closed = this.#close();
    this.#open = kind;
    return [...closed, this.#start(block)];
  }

  #grow(field: "text" | "thinking", type: string, value: string): StreamPiece {
    const block = this.#blocks.at(-1)!;
    block[field] = `${block[field] as string}${value}`;
    return this.#delta({ type, [field]: value });
  }

  /** What the provider wants back stands in the signature; thinking without words is redacted. */
  #sign({ text, providerData }: Thinking): StreamPiece[] {
    const signature = opaqueText(providerData);
    if (this.#open !== "thinking") {
      if (text === "") return signature === "" ? [] : this.#whole({ type: "redacted_thinking", data: signature });
      return [...this.write({ case: "thinkingDelta", value: text }), ...this.#signed(signature)];
    }
    return this.#signed(signature);
  }

  #signed(signature: string): StreamPiece[] {
    this.#blocks.at(-1)!.signature = signature;
    return [this.#delta({ type: "signature_delta", signature }), ...this.#close()];
  }

  #call({ id, tool, argumentsJson, providerData }: ToolCallPart): StreamPiece[] {
    const marked =
      providerData.length === 0 ? [] : this.#whole({ type: "redacted_thinking", data: `${CALL_MARK}${opaqueText(providerData)}` });
    const closed = this.#close();
    const started = this.#start({ type: "tool_use", id, name: tool, input: {} });
    this.#blocks.at(-1)!.input = objectOf(argumentsJson);
    const written = this.#delta({ type: "input_json_delta", partial_json: JSON.stringify(objectOf(argumentsJson)) });
    return [...marked, ...closed, started, written, this.#stop()];
  }

  #finish(reason: FinishReason, detail: string): StreamPiece[] {
    const refused = reason === FinishReason.REFUSAL && detail !== "" ? this.write({ case: "textDelta", value: detail }) : [];
    this.#reason = REASONS[reason] ?? "end_turn";
    const delta = { stop_reason: this.#reason, stop_sequence: null };
    return [...refused, ...this.#close(), piece("message_delta", { delta, usage: usageOf(this.#usage) }), piece("message_stop")];
  }

  #whole(block: Block): StreamPiece[] {
    return [...this.#close(), this.#start(block), this.#stop()];
  }

  #start(block: Block): StreamPiece {
    this.#blocks.push({ ...block });
    return piece("content_block_start", { index: this.#blocks.length - 1, content_block: block });
  }

  #delta(delta: object): StreamPiece {
    return piece("content_block_delta", { index: this.#blocks.length - 1, delta });
  }

  #stop(): StreamPiece {
    return piece("content_block_stop", { index: this.#blocks.length - 1 });
  }

  #close(): StreamPiece[] {
    if (this.#open === undefined) return [];
    this.#open = undefined;
    return [this.#stop()];
  }

  #message(content: readonly Block[], usage: object): object {
    const { id, model } = this.#head;
    return { id: `msg_${id}`, type: "message", role: "assistant", model, content, stop_reason: this.#reason, stop_sequence: null, usage };
  }
}

function piece(type: string, fields: object = {}): StreamPiece {
  return { event: type, data: { type, ...fields } };
}

/** A model does not always write an object, and clients take nothing else. */
function objectOf(argumentsJson: string): object {
  try {
    const value: unknown = JSON.parse(argumentsJson || "{}");
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch {
    // It is told as what it is.
  }
  return { unreadable_arguments: argumentsJson };
}

function usageOf(usage: Usage | undefined): object {
  const { inputTokens = 0n, cacheReadTokens = 0n, cacheWriteTokens = 0n, outputTokens = 0n } = usage ?? {};
  return {
    input_tokens: Number(inputTokens),
    cache_creation_input_tokens: Number(cacheWriteTokens),
    cache_read_input_tokens: Number(cacheReadTokens),
    output_tokens: Number(outputTokens),
  };
}
