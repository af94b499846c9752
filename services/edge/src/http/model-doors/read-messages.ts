import { create } from "@bufbuild/protobuf";
import {
  CountTokensRequestSchema,
  Effort,
  GenerateRequestSchema,
  Role,
  type CountTokensRequest,
  type Part,
} from "@hlvm/proto/hlvm/model/v1/model_pb";
import { bytesOf, filePart, imageOf, textPart } from "./content.ts";
import { ConversationReader, thinkingPart } from "./conversation.ts";
import type { ReadRequest } from "./door.ts";
import type { Fields } from "./fields.ts";
import { effort, MOST_OUTPUT_TOKENS, outputFormat, serviceTier, tool } from "./options.ts";
import { CALL_MARK, MessagesWriter } from "./write-messages.ts";

/** May be there, and change nothing of the answer; docs/model-doors.md tells them. */
const IGNORED = ["metadata", "context_management", "cache_control", "diagnostics"];
/** Thinking of so many tokens at most, and what it comes to. */
const BUDGETS = [
  [2_048, Effort.LOW],
  [8_192, Effort.MEDIUM],
  [32_000, Effort.HIGH],
] as const;

/** A request to `/v1/messages`. @throws HlvmError */
export function readMessages(body: Fields): ReadRequest {
  const { conversation, isHour } = readConversation(body);
  const config = body.object("output_config");
  const chosen = effort(config, "effort");
  const request = create(GenerateRequestSchema, {
    model: body.text("model"),
    messages: conversation.messages,
    tools: readTools(body),
    ...toolChoice(body),
    maxOutputTokens: body.whole("max_tokens", 1, MOST_OUTPUT_TOKENS),
    temperature: body.number("temperature", 0, 1),
    topP: body.number("top_p", 0, 1),
    stopSequences: body.texts("stop_sequences"),
    outputFormat: outputFormat(config?.object("format") ?? body.object("output_format"), false),
    effort: chosen === Effort.UNSPECIFIED ? thinkingEffort(body) : chosen,
    serviceTier: serviceTier(body),
    cacheHour: isHour,
  });
  if (request.maxOutputTokens === 0) throw body.error("max_tokens", "is missing");
  const isStream = body.flag("stream") ?? false;
  body.raw("thinking");
  config?.end();
  body.refuse(["speed"], ["standard"]);
  body.end(IGNORED);
  return { request, isStream, writer: (head) => new MessagesWriter(head) };
}

/** A request to `/v1/messages/count_tokens`. @throws HlvmError */
export function readCount(body: Fields): CountTokensRequest {
  const { conversation } = readConversation(body);
  const request = create(CountTokensRequestSchema, { model: body.text("model"), messages: conversation.messages, tools: readTools(body) });
  body.end([...IGNORED, "thinking", "tool_choice", "output_config", "output_format", "speed"]);
  return request;
}

function readConversation(body: Fields): { conversation: ConversationReader; isHour: boolean } {
  const conversation = new ConversationReader();
  const marks = new CacheMarks();
  conversation.add(
    Role.SYSTEM,
    blocks(body, "system", (block) => textBlock(block, marks)),
  );
  const messages = body.objects("messages");
  if (messages.length === 0) throw body.error("messages", "is missing or empty");
  for (const message of messages) {
    const role = message.word("role", ["user", "assistant", "system"]);
    if (role === undefined) throw message.error("role", "is missing");
    if (role === "assistant") readAssistant(message, conversation, marks);
    else if (role === "system")
      conversation.add(
        Role.SYSTEM,
        blocks(message, "content", (block) => textBlock(block, marks)),
      );
    else readUser(message, conversation, marks);
    message.end();
  }
  return { conversation, isHour: marks.isHour };
}

/** Where clients want the cache to end the gateway decides itself; of their marks only the hour is taken. */
class CacheMarks {
  isHour = false;

  end(block: Fields, ignored: readonly string[] = []): void {
    const control = block.object("cache_control");
    this.isHour ||= control?.word("ttl", ["5m", "1h"]) === "1h";
    control?.end(["type", "scope"]);
    block.refuse(["citations"], []);
    block.end(["cache_control", ...ignored]);
  }
}

function blocks(fields: Fields, name: string, read: (block: Fields) => Part): Part[] {
  const value = fields.raw(name);
  if (value === undefined) return [];
  return typeof value === "string" ? [textPart(fields.text(name))] : fields.objects(name).map(read);
}

function textBlock(block: Fields, marks: CacheMarks): Part {
  block.word("type", ["text"]);
  const part = textPart(block.text("text"));
  marks.end(block);
  return part;
}

/** Results of calls are messages of their own here, whatever stands around them in the user's. */
function readUser(message: Fields, conversation: ConversationReader, marks: CacheMarks): void {
  if (typeof message.raw("content") === "string") return conversation.add(Role.USER, [textPart(message.text("content"))]);
  const said: Part[] = [];
  for (const block of message.objects("content")) {
    switch (block.word("type", ["text", "image", "document", "tool_result"])) {
      case "text":
        said.push(textPart(block.text("text")));
        break;
      case "image":
      case "document":
        said.push(...file(block));
        break;
      case "tool_result":
        readResult(block, conversation, marks);
        break;
      default:
        throw block.error("type", "is missing");
    }
    marks.end(block, ["title"]);
  }
  conversation.add(Role.USER, said);
}

function readResult(block: Fields, conversation: ConversationReader, marks: CacheMarks): void {
  const isText = typeof block.raw("content") === "string";
  const inside = isText ? [] : block.objects("content");
  const texts: string[] = isText ? [block.text("content")] : [];
  const images = inside.flatMap((part) => {
    const type = part.word("type", ["text", "image"]);
    const found = type === "image" ? [imageOf(base64(part), part.path)] : [];
    if (type === "text") texts.push(part.text("text"));
    marks.end(part);
    return found;
  });
  conversation.addResult({ id: block.text("tool_use_id"), content: texts.join("\n"), isError: block.flag("is_error"), images });
}

function file(block: Fields): Part[] {
  const source = block.object("source");
  if (source?.raw("type") === "text") {
    const text = source.text("data");
    source.end(["type", "media_type"]);
    return [textPart(text)];
  }
  return [filePart(base64(block), block.pathOf("source"), block.optionalText("title"))];
}

function base64(block: Fields): Uint8Array {
  const source = block.object("source");
  if (source === undefined) throw block.error("source", "is missing");
  if (source.word("type", ["base64"]) === undefined) throw source.error("type", "is missing");
  const bytes = bytesOf(source.text("data"), source.pathOf("data"));
  source.end(["media_type"]);
  return bytes;
}

function readAssistant(message: Fields, conversation: ConversationReader, marks: CacheMarks): void {
  if (typeof message.raw("content") === "string") return conversation.add(Role.ASSISTANT, [textPart(message.text("content"))]);
  let ofCall = new Uint8Array();
  const parts = message.objects("content").flatMap((block): Part[] => {
    const part = assistantPart(block, conversation, ofCall);
    if (part instanceof Uint8Array) ofCall = part as Uint8Array<ArrayBuffer>;
    else ofCall = new Uint8Array();
    marks.end(block, ["caller"]);
    return part instanceof Uint8Array ? [] : [part];
  });
  conversation.add(Role.ASSISTANT, parts);
}

/** @returns bytes that belong to the call after them */
function assistantPart(block: Fields, conversation: ConversationReader, ofCall: Uint8Array<ArrayBuffer>): Part | Uint8Array {
  switch (block.word("type", ["text", "thinking", "redacted_thinking", "tool_use"])) {
    case "text":
      return textPart(block.text("text"));
    case "thinking":
      return thinkingPart(block.text("thinking"), sealed(block.optionalText("signature") ?? ""));
    case "redacted_thinking": {
      const data = block.text("data");
      return data.startsWith(CALL_MARK) ? sealed(data.slice(CALL_MARK.length)) : thinkingPart("", sealed(data));
    }
    case "tool_use":
      return conversation.call(block.text("id"), block.text("name"), block.json("input") ?? "{}", ofCall);
    default:
      throw block.error("type", "is missing");
  }
}

/** What is not ours was signed for somebody else, and whoever gets it passes over it. */
function sealed(text: string): Uint8Array<ArrayBuffer> {
  return Buffer.from(text, "base64");
}

function readTools(body: Fields) {
  return body.objects("tools").map((given) => {
    if (given.raw("type") !== undefined && given.raw("type") !== "custom")
      throw given.error("type", "only tools that the client runs itself can be offered", "Leave the provider's own tools out.");
    const read = tool(given, "input_schema");
    given.end(["type", "cache_control", "eager_input_streaming", "input_examples"]);
    return read;
  });
}

function toolChoice(body: Fields) {
  const given = body.object("tool_choice");
  const type = given?.word("type", ["auto", "any", "tool", "none"]);
  if (given === undefined || type === undefined) return {};
  const isSingle = given.flag("disable_parallel_tool_use");
  const name = type === "tool" ? given.text("name") : "";
  given.end();
  const parallelToolCalls = isSingle === undefined ? undefined : !isSingle;
  if (type === "auto") return { parallelToolCalls };
  if (type === "tool") return { parallelToolCalls, toolChoice: { choice: { case: "tool", value: name } } } as const;
  return { parallelToolCalls, toolChoice: { choice: { case: type, value: true } } } as const;
}

function thinkingEffort(body: Fields): Effort {
  const thinking = body.object("thinking");
  const type = thinking?.word("type", ["enabled", "disabled", "adaptive"]);
  const budget = thinking?.whole("budget_tokens", 0, MOST_OUTPUT_TOKENS);
  thinking?.end(["display"]);
  if (type === "disabled") return Effort.NONE;
  if (type !== "enabled" || budget === undefined) return Effort.UNSPECIFIED;
  return BUDGETS.find(([most]) => budget <= most)?.[1] ?? Effort.MAXIMUM;
}
