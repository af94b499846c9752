import { createHash } from "node:crypto";
import { textOf, type Generation, type Message, type Part } from "../../domain/generation.ts";
import { dataUrl } from "../base64.ts";
import { fittingName } from "../fitting-name.ts";
import { argumentsForReplay, parseArguments } from "../parse-arguments.ts";
import { openProviderData } from "../provider-data.ts";
import { asReminder, splitSystem } from "../system-messages.ts";
import { chatOptions, TOOL_NAME } from "./chat-options.ts";
import type { Dialect } from "./dialect.ts";

type ChatContent =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image_url"; readonly image_url: { readonly url: string } }
  /** Mistral's. */
  | { readonly type: "thinking"; readonly thinking: readonly { readonly type: "text"; readonly text: string }[] };

interface ChatMessage {
  role: "system" | "user" | "assistant" | "tool";
  content: string | ChatContent[] | null;
  [field: string]: unknown;
}

/** The thinking's field differs between servers; it goes back in the one it came in, and in parts where it came in parts. */
export interface ChatThinking {
  readonly field: string;
  /** OpenRouter's. */
  readonly details?: readonly object[];
}

/** What goes back with a call. */
export interface ChatCallData {
  /** Google's. */
  readonly extraContent: unknown;
}

/** OpenAI's limit; what an id is made of is left alone, since some models read their own again. */
const ID = /^.{1,40}$/s;
/** Mistral's. */
const SHORT_ID = /^[a-zA-Z0-9]{9}$/;
const SHORT_ID_LENGTH = 9;

/** A request to `/chat/completions`, as this server takes it. @throws ModelError `request_not_supported` */
export function chatRequest(provider: string, generation: Generation, dialect: Required<Dialect>): unknown {
  return {
    ...chatInput(provider, generation, dialect),
    stream: true,
    [dialect.lengthField]: generation.maximumOutputTokens,
    ...chatOptions(provider, generation, dialect),
  };
}

/** What of such a request is read: all that counts as input. */
export function chatInput(provider: string, generation: Generation, dialect: Required<Dialect>): Record<string, unknown> {
  return {
    model: generation.model,
    messages: chatMessages({ provider, model: generation.model, dialect }, generation),
    ...(generation.tools.length === 0 ? {} : { tools: generation.tools.map(chatTool) }),
  };
}

function chatTool(tool: Generation["tools"][number]): unknown {
  const { name, description, inputSchema: parameters, isStrict } = tool;
  return { type: "function", function: { name, description, parameters, ...(isStrict === true ? { strict: true } : {}) } };
}

/** Who reads a request. */
interface Reader {
  readonly provider: string;
  readonly model: string;
  readonly dialect: Required<Dialect>;
}

/** Many chat templates take one system message, at the start, and refuse two messages of a user in a row. */
function chatMessages(reader: Reader, generation: Generation): ChatMessage[] {
  const { leading, conversation } = splitSystem(generation.messages);
  const messages: ChatMessage[] = leading.length === 0 ? [] : [{ role: "system", content: leading.join("\n\n") }];
  for (const message of conversation) {
    for (const next of chatMessage(reader, message)) {
      const last = messages.at(-1);
      if (next.role === "user" && last?.role === "user") last.content = joined(last.content, next.content);
      else messages.push(next);
    }
  }
  return messages;
}

function chatMessage(reader: Reader, message: Message): ChatMessage[] {
  if (message.role === "system") return [{ role: "user", content: asReminder(message) }];
  if (message.role === "assistant") return assistantMessage(reader, message);
  const results = message.parts.flatMap((part): ChatMessage[] =>
    part.kind === "tool-result" ? [{ role: "tool", tool_call_id: callId(part.id, reader), content: part.content }] : [],
  );
  const hasImages = message.parts.some((part) => part.kind === "image" || (part.kind === "tool-result" && part.images !== undefined));
  const content = hasImages ? message.parts.flatMap(chatContent) : textOf(message);
  return content.length === 0 ? results : [...results, { role: "user", content }];
}

/** A tool's message takes no pictures: those of its result follow as the user's. */
function chatContent(part: Part): ChatContent[] {
  if (part.kind === "image") return [{ type: "image_url", image_url: { url: dataUrl(part) } }];
  if (part.kind === "tool-result")
    return (part.images ?? []).flatMap((image): ChatContent[] => [
      { type: "text", text: `A picture of the result of ${part.tool}:` },
      { type: "image_url", image_url: { url: dataUrl(image) } },
    ]);
  return part.kind === "text" && part.text !== "" ? [{ type: "text", text: part.text }] : [];
}

function joined(one: ChatMessage["content"], other: ChatMessage["content"]): ChatMessage["content"] {
  if (typeof one === "string" && typeof other === "string") return `${one}\n\n${other}`;
  return [one, other].flatMap((content): ChatContent[] =>
    typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []),
  );
}

function assistantMessage(reader: Reader, message: Message): ChatMessage[] {
  const content = textOf(message);
  const calls = message.parts.flatMap((part) => (part.kind === "tool-call" ? [chatCall(reader, part)] : []));
  if (content === "" && calls.length === 0) return [];
  const thinking = message.parts.filter((part) => part.kind === "thinking");
  const { content: withThinking, ...fields } = chatThinking(reader, thinking);
  return [
    {
      role: "assistant",
      content:
        withThinking === undefined
          ? content || null
          : [...withThinking, ...(content === "" ? [] : [{ type: "text" as const, text: content }])],
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
      ...fields,
    },
  ];
}

function callId(id: string, { dialect }: Reader): string {
  if (!dialect.hasShortIds) return fittingName(id, ID);
  return SHORT_ID.test(id) ? id : createHash("sha256").update(id).digest("hex").slice(0, SHORT_ID_LENGTH);
}

function chatCall(reader: Reader, call: Part & { kind: "tool-call" }): unknown {
  const isValid = parseArguments(call.argumentsJson) !== undefined;
  const written = isValid ? call.argumentsJson : JSON.stringify(argumentsForReplay(call.argumentsJson));
  const data = call.providerData && (openProviderData(call.providerData, reader.provider, reader.model) as ChatCallData | undefined);
  return {
    id: callId(call.id, reader),
    type: "function",
    function: { name: fittingName(call.tool, TOOL_NAME), arguments: written },
    ...(data === undefined ? {} : { extra_content: data.extraContent }),
  };
}

interface ThinkingFields {
  /** Where the thinking is a part of the answer's content. */
  readonly content?: readonly ChatContent[];
  readonly [field: string]: unknown;
}

/** All of an answer's thinking that is this server's, in the fields that it came in. */
function chatThinking({ provider, model }: Reader, parts: readonly (Part & { kind: "thinking" })[]): ThinkingFields {
  const fields: Record<string, string> = {};
  const details: object[] = [];
  const content: ChatContent[] = [];
  for (const { text, providerData } of parts) {
    const data = openProviderData(providerData, provider, model) as ChatThinking | undefined;
    if (data === undefined) continue;
    if (data.details !== undefined) details.push(...data.details);
    else if (data.field === "content") content.push({ type: "thinking", thinking: [{ type: "text", text }] });
    else fields[data.field] = fields[data.field] === undefined ? text : `${fields[data.field]}\n\n${text}`;
  }
  return { ...fields, ...(details.length === 0 ? {} : { reasoning_details: details }), ...(content.length === 0 ? {} : { content }) };
}
