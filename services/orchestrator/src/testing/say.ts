import { FinishReason } from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { Deltas } from "./usual-behaviour.ts";

export interface SaidCall {
  readonly id?: string;
  readonly tool: string;
  readonly arguments: unknown;
}

/** A model's answer: its text, then its tool calls, its usage and its end. */
export async function* say(text: string, calls: readonly SaidCall[] = [], finish: FinishReason = FinishReason.STOP, detail = ""): Deltas {
  if (text !== "") yield { event: { case: "textDelta", value: text } };
  for (const [index, call] of calls.entries()) {
    const argumentsJson = typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments);
    yield { event: { case: "toolCall", value: { id: call.id ?? `provider-${index}`, tool: call.tool, argumentsJson } } };
  }
  yield { event: { case: "usage", value: { inputTokens: 10n, outputTokens: 5n } } };
  yield { event: { case: "finish", value: { reason: calls.length > 0 ? FinishReason.TOOL_CALLS : finish, detail } } };
}
