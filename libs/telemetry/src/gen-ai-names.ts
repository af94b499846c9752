/**
 * Names of OpenTelemetry's conventions for generative AI, here and nowhere else: they are still "Development" and move.
 * As of semantic-conventions 1.45.0; the metrics of agents and tools are those of the repository that these conventions
 * moved to in 2026 (open-telemetry/semantic-conventions-genai). Attributes that would hold contents (messages, arguments,
 * results, system instructions) are left out on purpose: they are never exported.
 */
export const genAi = {
  operationName: "gen_ai.operation.name",
  providerName: "gen_ai.provider.name",
  requestModel: "gen_ai.request.model",
  /** Where another one answered than was asked for. */
  responseModel: "gen_ai.response.model",
  responseFinishReasons: "gen_ai.response.finish_reasons",
  /** The session. */
  conversationId: "gen_ai.conversation.id",
  agentName: "gen_ai.agent.name",
  toolName: "gen_ai.tool.name",
  toolCallId: "gen_ai.tool.call.id",
  inputTokens: "gen_ai.usage.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  cacheReadTokens: "gen_ai.usage.cache_read.input_tokens",
  /** `input` or `output`. */
  tokenType: "gen_ai.token.type",
} as const;

/** Values of `gen_ai.operation.name`; a span's name begins with its operation. */
export const genAiOperation = {
  invokeAgent: "invoke_agent",
  executeTool: "execute_tool",
  chat: "chat",
} as const;

export const genAiMetric = {
  operationDuration: "gen_ai.client.operation.duration",
  timeToFirstChunk: "gen_ai.client.operation.time_to_first_chunk",
  tokenUsage: "gen_ai.client.token.usage",
  executeToolDuration: "gen_ai.execute_tool.duration",
  invokeAgentDuration: "gen_ai.invoke_agent.duration",
} as const;
