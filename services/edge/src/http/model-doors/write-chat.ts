import { FinishReason, type ToolCallPart, type Usage } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { opaqueText } from "./content.ts";
import type { AnswerEvent } from "../../domain/model-calls.ts";
import { DONE, type AnswerWriter, type CallHead, type StreamPiece } from "./door.ts";

const REASONS: Readonly<Partial<Record<FinishReason, string>>> = {
  [FinishReason.STOP]: "stop",
  [FinishReason.TOOL_CALLS]: "tool_calls",
  [FinishReason.LENGTH]: "length",
  [FinishReason.REFUSAL]: "content_filter",
};

/** Chat completions, as OpenAI's SDK reads them. */
export class ChatWriter implements AnswerWriter {
  readonly #head: CallHead;
  readonly #hasUsage: boolean;
  #text = "";
  #thinking = "";
  #refusal: string | null = null;
  readonly #calls: object[] = [];
  #usage: Usage | undefined;
  #reason = "stop";

  /** @param hasUsage whether a stream ends with what was used */
  constructor(head: CallHead, hasUsage: boolean) {
    this.#head = head;
    this.#hasUsage = hasUsage;
  }

  begin(): StreamPiece[] {
    return [this.#chunk({ role: "assistant", content: "" })];
  }

  write(event: AnswerEvent): StreamPiece[] {
    switch (event.case) {
      case "textDelta":
        this.#text += event.value;
        return [this.#chunk({ content: event.value })];
      case "thinkingDelta":
        this.#thinking += event.value;
        return [this.#chunk({ reasoning_content: event.value })];
      case "toolCall": {
        const call = callOf(event.value);
        this.#calls.push(call);
        return [this.#chunk({ tool_calls: [{ index: this.#calls.length - 1, ...call }] })];
      }
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
    const message = {
      role: "assistant",
      content: this.#text === "" && this.#calls.length > 0 ? null : this.#text,
      refusal: this.#refusal,
      ...(this.#thinking === "" ? {} : { reasoning_content: this.#thinking }),
      ...(this.#calls.length === 0 ? {} : { tool_calls: this.#calls }),
    };
    const choice = { index: 0, message, logprobs: null, finish_reason: this.#reason };
    return { ...this.#frame("chat.completion"), choices: [choice], usage: usageOf(this.#usage) };
  }

  #finish(reason: FinishReason, detail: string): StreamPiece[] {
    this.#reason = REASONS[reason] ?? "stop";
    if (reason === FinishReason.REFUSAL) this.#refusal = detail || "The model refused to answer.";
    return [
      this.#chunk(this.#refusal === null ? {} : { refusal: this.#refusal }, this.#reason),
      ...(this.#hasUsage ? [{ data: { ...this.#frame("chat.completion.chunk"), choices: [], usage: usageOf(this.#usage) } }] : []),
      { data: DONE },
    ];
  }

  #chunk(delta: object, finishReason: string | null = null): StreamPiece {
    const choices = [{ index: 0, delta, logprobs: null, finish_reason: finishReason }];
    return { data: { ...this.#frame("chat.completion.chunk"), choices, ...(this.#hasUsage ? { usage: null } : {}) } };
  }

  #frame(object: string): object {
    const { id, created, model } = this.#head;
    return { id: `chatcmpl-${id}`, object, created, model };
  }
}

/** What a provider wants back with a call goes where Google's own protocol has it; most clients send it back. */
function callOf({ id, tool, argumentsJson, providerData }: ToolCallPart): object {
  const signature = providerData.length === 0 ? {} : { extra_content: { google: { thought_signature: opaqueText(providerData) } } };
  return { id, type: "function", function: { name: tool, arguments: argumentsJson }, ...signature };
}

function usageOf(usage: Usage | undefined): object {
  const { inputTokens = 0n, cacheReadTokens = 0n, cacheWriteTokens = 0n, outputTokens = 0n, reasoningTokens = 0n } = usage ?? {};
  const prompt = Number(inputTokens + cacheReadTokens + cacheWriteTokens);
  return {
    prompt_tokens: prompt,
    completion_tokens: Number(outputTokens),
    total_tokens: prompt + Number(outputTokens),
    prompt_tokens_details: { cached_tokens: Number(cacheReadTokens) },
    completion_tokens_details: { reasoning_tokens: Number(reasoningTokens) },
  };
}
