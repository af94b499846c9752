import { create } from "@bufbuild/protobuf";
import { GenerateRequestSchema, Role, type Part } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { bytesOfUrl, filePart, textPart } from "./content.ts";
import { ConversationReader, thinkingPart } from "./conversation.ts";
import type { ReadRequest } from "./door.ts";
import type { Fields } from "./fields.ts";
import { effort, keepsAnHour, MOST_OUTPUT_TOKENS, outputFormat, serviceTier } from "./options.ts";
import { nameWithin, ResponseTools } from "./response-tools.ts";
import { CALL_MARK } from "./write-messages.ts";
import { ResponsesWriter } from "./write-responses.ts";

const ITEMS = ["message", "function_call", "function_call_output", "reasoning"] as const;
/** May be there, and change nothing of the answer; docs/model-doors.md tells them. */
const IGNORED = ["metadata", "store", "user", "safety_identifier", "client_metadata", "stream_options"];
/** Nothing is kept here that a later request could go on from. */
const WITHOUT = ["previous_response_id", "conversation", "prompt", "background", "max_tool_calls", "context_management", "moderation"];

/** A request to `/v1/responses`. @throws HlvmError */
export function readResponses(body: Fields): ReadRequest {
  const conversation = new ConversationReader();
  const instructions = body.optionalText("instructions");
  if (instructions) conversation.add(Role.SYSTEM, [textPart(instructions)]);
  if (typeof body.raw("input") === "string") conversation.add(Role.USER, [textPart(body.text("input"))]);
  else readItems(body.objects("input"), conversation);
  if (conversation.messages.length === 0) throw body.error("input", "is missing or empty");
  body.refuse(WITHOUT, [false]);
  body.refuse(["top_logprobs"], [0]);
  body.refuse(["truncation"], ["disabled"]);
  const unknown = body.texts("include").find((word) => word !== "reasoning.encrypted_content");
  if (unknown !== undefined) throw body.error("include", `there is no ${JSON.stringify(unknown.slice(0, 64))} here`);
  const tools = new ResponseTools(body.objects("tools"));
  const text = body.object("text");
  const reasoning = body.object("reasoning");
  const request = create(GenerateRequestSchema, {
    model: body.text("model"),
    messages: conversation.messages,
    tools: tools.definitions,
    ...toolChoice(body),
    maxOutputTokens: body.whole("max_output_tokens", 1, MOST_OUTPUT_TOKENS),
    temperature: body.number("temperature", 0, 2),
    topP: body.number("top_p", 0, 1),
    parallelToolCalls: body.flag("parallel_tool_calls"),
    outputFormat: outputFormat(text?.object("format"), false),
    effort: effort(reasoning, "effort"),
    serviceTier: serviceTier(body),
    cacheKey: body.optionalText("prompt_cache_key"),
    cacheHour: keepsAnHour(body),
  });
  text?.refuse(["verbosity"], ["medium"]);
  text?.end();
  reasoning?.end(["summary", "generate_summary", "context"]);
  const isStream = body.flag("stream") ?? false;
  body.end(IGNORED);
  const echo = {
    instructions: instructions ?? null,
    tools: body.raw("tools") ?? [],
    tool_choice: body.raw("tool_choice") ?? "auto",
    temperature: request.temperature ?? null,
    top_p: request.topP ?? null,
    max_output_tokens: request.maxOutputTokens || null,
    parallel_tool_calls: request.parallelToolCalls ?? true,
    metadata: body.raw("metadata") ?? {},
  };
  return { request, isStream, writer: (head) => new ResponsesWriter(head, echo, tools) };
}

function readItems(items: readonly Fields[], conversation: ConversationReader): void {
  let ofCall = new Uint8Array();
  for (const item of items) {
    const type = item.word("type", ITEMS) ?? "message";
    const marked = type === "reasoning" ? (item.optionalText("encrypted_content") ?? "") : "";
    switch (type) {
      case "message":
        readMessage(item, conversation);
        break;
      case "function_call":
        conversation.add(Role.ASSISTANT, [readCall(item, conversation, ofCall)]);
        break;
      case "function_call_output":
        conversation.addResult({ id: item.text("call_id"), content: resultOf(item) });
        break;
      default:
        if (!marked.startsWith(CALL_MARK)) conversation.add(Role.ASSISTANT, [thinkingPart(summaryOf(item), Buffer.from(marked, "base64"))]);
    }
    ofCall = marked.startsWith(CALL_MARK) ? Buffer.from(marked.slice(CALL_MARK.length), "base64") : new Uint8Array();
    item.end(["id", "status", "phase", ...(type === "reasoning" ? ["summary", "content"] : [])]);
  }
}

function readCall(item: Fields, conversation: ConversationReader, providerData: Uint8Array<ArrayBuffer>): Part {
  const name = nameWithin(item.optionalText("namespace"), item.text("name"));
  return conversation.call(item.text("call_id"), name, item.text("arguments"), providerData);
}

function readMessage(item: Fields, conversation: ConversationReader): void {
  const role = item.word("role", ["system", "developer", "user", "assistant"]);
  if (role === undefined) throw item.error("role", "is missing");
  const parts = typeof item.raw("content") === "string" ? [textPart(item.text("content"))] : item.objects("content").map(readPart);
  conversation.add(role === "user" ? Role.USER : role === "assistant" ? Role.ASSISTANT : Role.SYSTEM, parts);
}

function readPart(part: Fields): Part {
  const read = partOf(part);
  part.end(["annotations", "logprobs", "detail"]);
  return read;
}

function partOf(part: Fields): Part {
  switch (part.word("type", ["input_text", "output_text", "text", "refusal", "input_image", "input_file"])) {
    case "input_text":
    case "output_text":
    case "text":
      return textPart(part.text("text"));
    case "refusal":
      return textPart(part.text("refusal"));
    case "input_image":
      return filePart(bytesOfUrl(part.text("image_url"), part.pathOf("image_url")), part.pathOf("image_url"));
    case "input_file":
      return filePart(
        bytesOfUrl(part.text("file_data"), part.pathOf("file_data")),
        part.pathOf("file_data"),
        part.optionalText("filename"),
      );
    default:
      throw part.error("type", "is missing");
  }
}

/** Of a tool: text. */
function resultOf(item: Fields): string {
  if (typeof item.raw("output") === "string") return item.text("output");
  return item
    .objects("output")
    .map(readPart)
    .map(({ part }, index) => {
      if (part.case === "text") return part.value;
      throw item.error(`output.${index}`, "the result of a tool is text here");
    })
    .join("\n");
}

function summaryOf(item: Fields): string {
  return item
    .objects("summary")
    .map((part) => part.text("text"))
    .join("\n\n");
}

function toolChoice(body: Fields) {
  const given = body.raw("tool_choice");
  if (given === undefined) return {};
  if (typeof given === "string") {
    const word = body.word("tool_choice", ["auto", "none", "required"]);
    if (word === "auto") return {};
    return { toolChoice: { choice: { case: word === "none" ? "none" : "any", value: true } } } as const;
  }
  const choice = body.object("tool_choice")!;
  if (choice.word("type", ["function"]) === undefined) throw choice.error("type", "is missing");
  const value = choice.text("name");
  choice.end();
  return { toolChoice: { choice: { case: "tool", value } } } as const;
}
