import type { Generation, Part } from "../generation.ts";
import type { ModelNeeds } from "./model-needs.ts";

/** Of text, as it is estimated elsewhere. */
const CHARACTERS_A_TOKEN = 4;
/** What providers count an image or a page for, at most. */
const TOKENS_OF_FILE = 2_000;

/** What a model has to have to answer a request in another one's place. */
export function needsOfGeneration({ messages, tools, maximumOutputTokens }: Generation): ModelNeeds {
  const parts = messages.flatMap((message) => message.parts);
  const images = parts.some((part) => part.kind === "image" || (part.kind === "tool-result" && (part.images?.length ?? 0) > 0));
  const characters = parts.reduce((sum, part) => sum + charactersOf(part), 0) + JSON.stringify(tools).length;
  return {
    tools: tools.length > 0,
    images,
    documents: parts.some(({ kind }) => kind === "document"),
    contextWindow: Math.ceil(characters / CHARACTERS_A_TOKEN) + maximumOutputTokens,
  };
}

function charactersOf(part: Part): number {
  switch (part.kind) {
    case "text":
    case "thinking":
      return part.text.length;
    case "tool-call":
      return part.tool.length + part.argumentsJson.length;
    case "tool-result":
      return part.content.length + (part.images?.length ?? 0) * TOKENS_OF_FILE * CHARACTERS_A_TOKEN;
    case "image":
    case "document":
      return TOKENS_OF_FILE * CHARACTERS_A_TOKEN;
  }
}
