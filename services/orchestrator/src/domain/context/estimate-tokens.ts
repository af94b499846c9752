import type { Part, ToolDefinition } from "@hlvm/proto/hlvm/model/v1/model_pb";

/** What English comes to with most tokenizers; other scripts take more bytes a character, and more tokens as well. */
const BYTES_A_TOKEN = 4;
/** As Anthropic documents it; larger images are scaled down to about so many. Other providers' counts are near enough. */
const PIXELS_A_TOKEN = 750;
const MOST_IMAGE_TOKENS = 1_600;
/** A PDF's pages hold pictures and fonts as well as text. A guess, which the provider's count corrects. */
const DOCUMENT_BYTES_A_TOKEN = 32;
const MOST_DOCUMENT_TOKENS = 100_000;
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

/** What a provider wants back is its own thinking in another form. */
function estimateData(data: Uint8Array): number {
  return Math.ceil(data.length / (2 * BYTES_A_TOKEN));
}

function estimateContent({ part }: Part): number {
  switch (part.case) {
    case "text":
      return estimateTokens(part.value);
    case "thinking":
      return Math.max(estimateTokens(part.value.text), estimateData(part.value.providerData));
    case "toolCall":
      return estimateTokens(part.value.id + part.value.tool + part.value.argumentsJson) + estimateData(part.value.providerData);
    case "toolResult":
      return estimateTokens(part.value.id + part.value.content);
    case "image":
      return Math.min(MOST_IMAGE_TOKENS, Math.ceil((part.value.width * part.value.height) / PIXELS_A_TOKEN));
    case "document":
      return Math.min(MOST_DOCUMENT_TOKENS, Math.ceil(part.value.data.length / DOCUMENT_BYTES_A_TOKEN));
    default:
      return 0;
  }
}
