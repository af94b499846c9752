import type Anthropic from "@anthropic-ai/sdk";
import type { AttachedImage, Generation, Message, Part } from "../../domain/generation.ts";
import { base64 } from "../base64.ts";
import { fittingName } from "../fitting-name.ts";
import { argumentsForReplay } from "../parse-arguments.ts";
import { openProviderData } from "../provider-data.ts";
import { asReminder, splitSystem } from "../system-messages.ts";
import { ANTHROPIC, anthropicOptions, cacheMark, TOOL_NAME } from "./anthropic-options.ts";

type Request = Anthropic.MessageCreateParamsStreaming;
type Block = Anthropic.ContentBlockParam;
type UserBlock = Anthropic.TextBlockParam | Anthropic.ToolResultBlockParam | Anthropic.ImageBlockParam | Anthropic.DocumentBlockParam;

const ID = /^[\w-]+$/;

/** A block that has to go back as it came. */
export type SealedThinking = Anthropic.ThinkingBlockParam | Anthropic.RedactedThinkingBlockParam;

/**
 * A request to `/v1/messages`. Three marks tell what to keep in the cache: the tools, the first system message (the stable
 * prefix; memory comes after it), and the conversation so far.
 */
export function anthropicRequest(generation: Generation): Request {
  const { leading, conversation } = splitSystem(generation.messages);
  const mark = cacheMark(generation);
  return {
    model: generation.model,
    stream: true,
    ...anthropicOptions(generation),
    system: leading.filter((text) => text !== "").map((text, index) => ({ type: "text", text, ...(index === 0 ? mark : {}) })),
    messages: cached(messages(generation.model, conversation), mark),
    ...(generation.tools.length === 0 ? {} : { tools: tools(generation) }),
  };
}

/** The same request to `/v1/messages/count_tokens`, which takes what is read and nothing of how to answer. */
export function anthropicCount(generation: Generation): Anthropic.MessageCountTokensParams {
  const { model, system, messages: turns, tools: offered } = anthropicRequest(generation);
  return { model, system, messages: turns, ...(offered === undefined ? {} : { tools: offered }) };
}

function tools(generation: Generation): Anthropic.Tool[] {
  return generation.tools.map((tool, index) => ({
    name: tool.name,
    description: tool.description,
    input_schema: tool.inputSchema as Anthropic.Tool.InputSchema,
    ...(tool.isStrict === true ? { strict: true } : {}),
    ...(index === generation.tools.length - 1 ? cacheMark(generation) : {}),
  }));
}

/** Turns alternate, and every result of a turn's calls comes at the start of the one message after it. */
function messages(model: string, conversation: readonly Message[]): Anthropic.MessageParam[] {
  const turns: { role: "user" | "assistant"; content: Block[] }[] = [];
  for (const message of conversation) {
    const role = message.role === "assistant" ? "assistant" : "user";
    const content = role === "assistant" ? message.parts.flatMap((part) => assistantBlock(model, part)) : userBlocks(message);
    if (content.length === 0) continue;
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...content);
    else turns.push({ role, content });
  }
  return turns;
}

function userBlocks(message: Message): UserBlock[] {
  if (message.role === "system") return [{ type: "text", text: asReminder(message) }];
  return message.parts.flatMap((part): UserBlock[] => {
    if (part.kind === "text") return part.text === "" ? [] : [{ type: "text", text: part.text }];
    if (part.kind === "image") return [imageBlock(part)];
    if (part.kind === "document") {
      const source = { type: "base64", media_type: "application/pdf", data: base64(part.data) } as const;
      return [{ type: "document", title: part.name, source }];
    }
    if (part.kind !== "tool-result") return [];
    const content = part.images === undefined ? part.content : withImages(part.content, part.images);
    return [{ type: "tool_result", tool_use_id: fittingName(part.id, ID), content, is_error: part.isError }];
  });
}

function withImages(text: string, images: readonly AttachedImage[]): (Anthropic.TextBlockParam | Anthropic.ImageBlockParam)[] {
  return [...(text === "" ? [] : [{ type: "text" as const, text }]), ...images.map(imageBlock)];
}

function imageBlock({ mediaType, data }: AttachedImage): Anthropic.ImageBlockParam {
  return { type: "image", source: { type: "base64", media_type: imageType(mediaType), data: base64(data) } };
}

/** The orchestrator found it from the bytes; another one Anthropic refuses. */
function imageType(mediaType: string): Anthropic.Base64ImageSource["media_type"] {
  return mediaType as Anthropic.Base64ImageSource["media_type"];
}

function assistantBlock(model: string, part: Part): Block[] {
  switch (part.kind) {
    case "text":
      return part.text.trim() === "" ? [] : [{ type: "text", text: part.text }];
    case "tool-call":
      return [
        {
          type: "tool_use",
          id: fittingName(part.id, ID),
          name: fittingName(part.tool, TOOL_NAME),
          input: argumentsForReplay(part.argumentsJson),
        },
      ];
    case "thinking": {
      const block = openProviderData(part.providerData, ANTHROPIC, model) as SealedThinking | undefined;
      return block === undefined ? [] : [block];
    }
    default:
      return [];
  }
}

function cached(turns: Anthropic.MessageParam[], mark: ReturnType<typeof cacheMark>): Anthropic.MessageParam[] {
  const last = turns.at(-1);
  if (last === undefined || last.role !== "user" || typeof last.content === "string") return turns;
  const blocks = last.content as UserBlock[];
  return [
    ...turns.slice(0, -1),
    { role: "user", content: blocks.map((block, index) => (index === blocks.length - 1 ? { ...block, ...mark } : block)) },
  ];
}
