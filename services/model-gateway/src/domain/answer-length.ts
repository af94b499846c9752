import type { Delta } from "./generation.ts";
import { ModelError } from "./model-error.ts";

/** UTF-16 units of one delta, of at most three bytes each: with what frames it, it can be sent. */
const LONGEST_DELTA = 4 * 1024 * 1024;

/** Whether a delta can be sent. */
export function isFitting(delta: Delta): boolean {
  return lengthOf(delta) <= LONGEST_DELTA;
}

/** Of a text that is too long to be sent; of anything else nothing. */
export function beginningOf(delta: Delta): Delta[] {
  if (delta.kind !== "text" && delta.kind !== "thinking-delta") return [];
  return [{ kind: delta.kind, text: delta.text.slice(0, LONGEST_DELTA).replace(/[\uD800-\uDBFF]$/, "") }];
}

export function answerTooLong(provider: string): ModelError {
  return new ModelError({
    class: "permanent",
    reason: "answer_too_long",
    message: `${provider} sent more at once than an answer may have, and was stopped there.`,
    advice: "Ask for less at a time, or choose another model with --model.",
    provider,
  });
}

function lengthOf(delta: Delta): number {
  switch (delta.kind) {
    case "text":
    case "thinking-delta":
      return delta.text.length;
    case "thinking":
      return delta.text.length + delta.providerData.length;
    case "tool-call":
      return delta.id.length + delta.tool.length + delta.argumentsJson.length + (delta.providerData?.length ?? 0);
    case "finish":
      return delta.detail.length;
    case "usage":
      return 0;
  }
}
