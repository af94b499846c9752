import { create } from "@bufbuild/protobuf";
import { GenerateRequestSchema, Role, type Part, type ToolChoice } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { bytesOf, bytesOfUrl, filePart, textPart } from "./content.ts";
import { ConversationReader, thinkingPart } from "./conversation.ts";
import type { ReadRequest } from "./door.ts";
import type { Fields } from "./fields.ts";
import { effort, keepsAnHour, MOST_OUTPUT_TOKENS, outputFormat, serviceTier, tool } from "./options.ts";
import { ChatWriter } from "./write-chat.ts";

const ROLES = ["system", "developer", "user", "assistant", "tool"] as const;
/** May be there, and change nothing of the answer; docs/model-doors.md tells them. */
const IGNORED = ["metadata", "store", "user", "safety_identifier", "seed", "prediction"];
const WITHOUT = ["frequency_penalty", "presence_penalty", "logit_bias", "logprobs", "top_logprobs", "audio", "functions", "function_call"];

/** A request to `/v1/chat/completions`. @throws HlvmError */
export function readChat(body: Fields): ReadRequest {
  const conversation = new ConversationReader();
  const messages = body.objects("messages");
  if (messages.length === 0) throw body.error("messages", "is missing or empty");
  for (const message of messages) readMessage(message, conversation);
  body.refuse(["n"], [1]);
  body.refuse(WITHOUT, [0, false, "none"]);
  body.refuse(["web_search_options", "verbosity"], ["medium"]);
  if (body.list("modalities").some((modality) => modality !== "text")) throw body.error("modalities", "only text can be answered");
  const isStream = body.flag("stream") ?? false;
  const streamOptions = body.object("stream_options");
  const hasUsage = streamOptions?.flag("include_usage") ?? false;
  const completionTokens = body.whole("max_completion_tokens", 1, MOST_OUTPUT_TOKENS);
  const stop = typeof body.raw("stop") === "string" ? [body.text("stop")] : body.texts("stop");
  const request = create(GenerateRequestSchema, {
    model: body.text("model"),
    messages: conversation.messages,
    tools: body.objects("tools").map(readTool),
    toolChoice: toolChoice(body),
    maxOutputTokens: completionTokens ?? body.whole("max_tokens", 1, MOST_OUTPUT_TOKENS),
    temperature: body.number("temperature", 0, 2),
    topP: body.number("top_p", 0, 1),
    parallelToolCalls: body.flag("parallel_tool_calls"),
    stopSequences: stop,
    outputFormat: outputFormat(body.object("response_format"), true),
    effort: effort(body, "reasoning_effort"),
    serviceTier: serviceTier(body),
    cacheKey: body.optionalText("prompt_cache_key"),
    cacheHour: keepsAnHour(body),
  });
  body.raw("max_tokens");
  streamOptions?.end(["include_obfuscation"]);
  body.end(IGNORED);
  return { request, isStream, writer: (head) => new ChatWriter(head, hasUsage) };
}

function readMessage(message: Fields, conversation: ConversationReader): void {
  const role = message.word("role", ROLES);
  if (role === undefined) throw message.error("role", "is missing");
  if (role === "tool") {
    conversation.addResult({ id: message.text("tool_call_id"), content: textOf(message) });
  } else if (role === "assistant") {
    const thinking = message.optionalText("reasoning_content") ?? message.optionalText("reasoning");
    const calls = message.objects("tool_calls").map((call) => readCall(call, conversation));
    const spoken = [...content(message), ...refusalOf(message)];
    conversation.add(Role.ASSISTANT, [...(thinking ? [thinkingPart(thinking)] : []), ...spoken, ...calls]);
  } else conversation.add(role === "user" ? Role.USER : Role.SYSTEM, content(message));
  message.refuse(["audio", "function_call"]);
  message.end(["name", "annotations", "reasoning_details", "reasoning_content", "reasoning"]);
}

function refusalOf(message: Fields): Part[] {
  const refusal = message.optionalText("refusal");
  return refusal ? [textPart(refusal)] : [];
}

function readCall(call: Fields, conversation: ConversationReader): Part {
  call.word("type", ["function"]);
  const called = call.object("function");
  if (called === undefined) throw call.error("function", "is missing");
  const google = call.object("extra_content")?.object("google");
  const signature = google?.optionalText("thought_signature") ?? "";
  const data = bytesOf(signature, `${call.path}.extra_content.google.thought_signature`);
  const part = conversation.call(
    call.text("id"),
    called.text("name"),
    called.optionalText("arguments") ?? "",
    data as Uint8Array<ArrayBuffer>,
  );
  called.end();
  call.end(["index"]);
  return part;
}

function content(message: Fields): Part[] {
  const value = message.raw("content");
  if (value === undefined) return [];
  if (typeof value === "string") return [textPart(message.text("content"))];
  return message.objects("content").map((part) => {
    const read = readPart(part);
    part.end(["cache_control"]);
    return read;
  });
}

function readPart(part: Fields): Part {
  switch (part.word("type", ["text", "refusal", "image_url", "file"])) {
    case "text":
      return textPart(part.text("text"));
    case "refusal":
      return textPart(part.text("refusal"));
    case "image_url": {
      const image = part.object("image_url");
      if (image === undefined) throw part.error("image_url", "is missing");
      const field = image.pathOf("url");
      const read = filePart(bytesOfUrl(image.text("url"), field), field);
      image.end(["detail"]);
      return read;
    }
    case "file": {
      const file = part.object("file");
      if (file === undefined) throw part.error("file", "is missing");
      const field = file.pathOf("file_data");
      const read = filePart(bytesOfUrl(file.text("file_data"), field), field, file.optionalText("filename"));
      file.end();
      return read;
    }
    default:
      throw part.error("type", "is missing");
  }
}

/** Of a tool's result, which is text. */
function textOf(message: Fields): string {
  return content(message)
    .map(({ part }, index) => {
      if (part.case === "text") return part.value;
      throw message.error(`content.${index}`, "the result of a tool is text here");
    })
    .join("");
}

function readTool(given: Fields) {
  given.word("type", ["function"]);
  const called = given.object("function");
  if (called === undefined) throw given.error("function", "only functions can be offered", "Leave other tools out.");
  const read = tool(called, "parameters");
  called.end();
  given.end(["cache_control"]);
  return read;
}

function toolChoice(body: Fields): ToolChoice["choice"] extends infer Choice ? { choice: Choice } | undefined : never {
  const given = body.raw("tool_choice");
  if (given === undefined) return undefined;
  if (typeof given === "string") {
    const word = body.word("tool_choice", ["auto", "none", "required"]);
    return word === "auto" ? undefined : { choice: word === "none" ? { case: "none", value: true } : { case: "any", value: true } };
  }
  const choice = body.object("tool_choice")!;
  choice.word("type", ["function"]);
  const called = choice.object("function");
  if (called === undefined) throw choice.error("function", "is missing");
  const value = called.text("name");
  called.end();
  choice.end();
  return { choice: { case: "tool", value } };
}
