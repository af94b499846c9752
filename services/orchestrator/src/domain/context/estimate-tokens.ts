import type { Part, ToolDefinition } from "@hlvm/proto/hlvm/model/v1/model_pb";

/** What English comes to with most tokenizers; other scripts take more bytes a character, and more tokens as well. */
const BYTES_A_TOKEN = 4;
/** What frames a part in the request. */
const FRAME_TOKENS = 4;

const known = new WeakMap<Part, number>();

/** About how many tokens a text takes, before any correction by what a provider counted. */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_A_TOKEN);
}

/** The same of a part of a message. */
export function estimatePart(part: Part): number {
  const before = known.get(part);
  if (before !== undefined) return before;
  const tokens = FRAME_TOKENS + estimateContent(part);
  known.set(part, tokens);
  return tokens;
}

/** The same of the tools that a model is shown. */
export function estimateTools(tools: readonly ToolDefinition[]): number {
  return tools.reduce(
    (sum, { name, description, inputSchemaJson }) => sum + FRAME_TOKENS + estimateTokens(`${name}${description}${inputSchemaJson}`),
    0,
  );
}

function estimateContent({ part }: Part): number {
  switch (part.case) {
    case "text":
      return estimateTokens(part.value);
    case "thinking":
      // What a provider wants back is its own thinking in another form.
      return Math.max(estimateTokens(part.value.text), Math.ceil(part.value.providerData.length / (2 * BYTES_A_TOKEN)));
    case "toolCall":
      return estimateTokens(part.value.id + part.value.tool + part.value.argumentsJson);
    case "toolResult":
      return estimateTokens(part.value.id + part.value.content);
    default:
      return 0;
  }
}
