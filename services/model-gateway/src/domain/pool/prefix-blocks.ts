import { hash } from "node:crypto";
import type { Generation, Message, Part } from "../generation.ts";

/** Of the prompt's text. What two prompts share is known to this length. */
const BLOCK_CHARACTERS = 256;

/** A prompt in pieces that can be compared without its text. */
export interface PrefixBlocks {
  /** Of each block together with all before it: two prompts with the same one are the same up to its end. */
  readonly hashes: readonly string[];
  readonly characters: number;
}

/**
 * A request as its prompt reads, nearly: tools, then messages. No model's own template is needed, since two requests that begin
 * alike here begin alike there.
 */
export function prefixBlocks({ model, tools, messages }: Generation): PrefixBlocks {
  const text = [model, JSON.stringify(tools), ...messages.map(messageText)].join("\n");
  const hashes: string[] = [];
  for (let start = 0, before = ""; start < text.length; start += BLOCK_CHARACTERS) {
    before = hash("sha1", before + text.slice(start, start + BLOCK_CHARACTERS), "base64");
    hashes.push(before);
  }
  return { hashes, characters: text.length };
}

function messageText({ role, parts }: Message): string {
  return `${role}\n${parts.map(partText).join("\n")}`;
}

function partText(part: Part): string {
  switch (part.kind) {
    case "text":
    case "thinking":
      return part.text;
    case "tool-call":
      return `${part.id} ${part.tool} ${part.argumentsJson}`;
    case "tool-result":
      return [part.id, part.content, ...(part.images ?? []).map(({ data }) => hash("sha1", data))].join(" ");
    case "image":
    case "document":
      return hash("sha1", part.data);
  }
}
