import type { Generation, Usage } from "../domain/generation.ts";

const CHARACTERS_A_TOKEN = 4;
/** As Anthropic documents it for its models. */
const PIXELS_A_TOKEN = 750;
/** Of a PDF, whose pages hold pictures and fonts as well. */
const BYTES_A_CHARACTER = 8;

/** For models that count no tokens: one for four characters, which is what English comes to with most tokenizers. */
export function estimateUsage(generation: Generation, answer: string): Usage {
  const tokens = (characters: number): number => Math.ceil(characters / CHARACTERS_A_TOKEN);
  const asked = generation.messages.flatMap((message) => message.parts).reduce((sum, part) => sum + lengthOf(part), 0);
  return { input: tokens(asked), output: tokens(answer.length), cacheRead: 0, cacheWrite: 0, reasoning: 0 };
}

function lengthOf(part: Generation["messages"][number]["parts"][number]): number {
  if (part.kind === "image") return (part.width * part.height * CHARACTERS_A_TOKEN) / PIXELS_A_TOKEN;
  if (part.kind === "document") return part.data.length / BYTES_A_CHARACTER;
  if (part.kind === "tool-call") return part.tool.length + part.argumentsJson.length;
  return part.kind === "tool-result" ? part.content.length : part.text.length;
}
