import { create } from "@bufbuild/protobuf";
import { UsageSchema, type Usage } from "@hlvm/proto/hlvm/model/v1/model_pb";

/** The tokens of both together. */
export function addUsage(one: Usage, other: Usage): Usage {
  return create(UsageSchema, {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    cacheReadTokens: one.cacheReadTokens + other.cacheReadTokens,
    cacheWriteTokens: one.cacheWriteTokens + other.cacheWriteTokens,
    cacheWriteHourTokens: one.cacheWriteHourTokens + other.cacheWriteHourTokens,
    reasoningTokens: one.reasoningTokens + other.reasoningTokens,
  });
}
