import { create } from "@bufbuild/protobuf";
import { FinishReason, GenerateResponseSchema, type GenerateResponse } from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { Finish, AnswerEvent } from "../domain/generation.ts";
import type { PriceTable } from "../domain/price-table.ts";
import { encodeModel } from "./encode-model.ts";

const REASONS: Readonly<Record<Finish["reason"], FinishReason>> = {
  stop: FinishReason.STOP,
  "tool-calls": FinishReason.TOOL_CALLS,
  length: FinishReason.LENGTH,
  refusal: FinishReason.REFUSAL,
};

export function encodeDelta(delta: AnswerEvent, prices: PriceTable): GenerateResponse {
  return create(GenerateResponseSchema, { event: eventOf(delta, prices) });
}

function eventOf(
  delta: AnswerEvent,
  prices: PriceTable,
): NonNullable<Parameters<typeof create<typeof GenerateResponseSchema>>[1]>["event"] {
  switch (delta.kind) {
    case "text":
      return { case: "textDelta", value: delta.text };
    case "thinking-delta":
      return { case: "thinkingDelta", value: delta.text };
    case "thinking":
      return { case: "thinking", value: { text: delta.text, providerData: delta.providerData } };
    case "tool-call":
      return {
        case: "toolCall",
        value: { id: delta.id, tool: delta.tool, argumentsJson: delta.argumentsJson, providerData: delta.providerData },
      };
    case "usage":
      return {
        case: "usage",
        value: {
          inputTokens: BigInt(delta.input),
          outputTokens: BigInt(delta.output),
          cacheReadTokens: BigInt(delta.cacheRead),
          cacheWriteTokens: BigInt(delta.cacheWrite),
          cacheWriteHourTokens: BigInt(delta.cacheWriteHour ?? 0),
          reasoningTokens: BigInt(delta.reasoning),
        },
      };
    case "served-by":
      return { case: "servedBy", value: { model: encodeModel(delta.model, prices), why: delta.why } };
    case "alive":
      return { case: "alive", value: {} };
    case "finish":
      return { case: "finish", value: { reason: REASONS[delta.reason], detail: delta.detail } };
  }
}
