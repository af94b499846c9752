import { HlvmError } from "@hlvm/errors/hlvm-error";
import {
  Role,
  type GenerateRequest,
  type ImagePart,
  type Message as WireMessage,
  type Part as WirePart,
  type ToolCallPart,
} from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { AttachedImage, Generation, Message, OfferedTool, Part, RequestedCall } from "../domain/generation.ts";
import { decodeOptions } from "./decode-options.ts";

const DEFAULT_MAXIMUM_OUTPUT_TOKENS = 4096;
const MOST_SCHEMAS = 256;
/** Every turn of every session offers the same few tools. */
const schemas = new Map<string, OfferedTool["inputSchema"]>();
const ROLES: Readonly<Partial<Record<Role, Message["role"]>>> = {
  [Role.SYSTEM]: "system",
  [Role.USER]: "user",
  [Role.ASSISTANT]: "assistant",
  [Role.TOOL]: "tool",
};

/** @throws HlvmError `tool_schema_malformed` */
export function decodeGeneration(request: GenerateRequest, model: string): Generation {
  return {
    model,
    messages: request.messages.map(message),
    tools: request.tools.map((tool): OfferedTool => ({
      name: tool.name,
      description: tool.description,
      inputSchema: schema(tool.name, tool.inputSchemaJson),
      ...(tool.strict ? { isStrict: true } : {}),
    })),
    maximumOutputTokens: request.maxOutputTokens || DEFAULT_MAXIMUM_OUTPUT_TOKENS,
    temperature: request.temperature,
    ...decodeOptions(request),
  };
}

function message({ role, parts }: WireMessage): Message {
  return { role: ROLES[role] ?? "user", parts: parts.map(part) };
}

function part({ part: wire }: WirePart): Part {
  switch (wire.case) {
    case "thinking":
      return { kind: "thinking", text: wire.value.text, providerData: wire.value.providerData };
    case "toolCall":
      return { kind: "tool-call", ...call(wire.value) };
    case "toolResult": {
      const { id, tool, content, isError, images } = wire.value;
      return { kind: "tool-result", id, tool, content, isError, ...(images.length === 0 ? {} : { images: images.map(image) }) };
    }
    case "image":
      return { kind: "image", ...image(wire.value) };
    case "document":
      return { kind: "document", mediaType: wire.value.mediaType, data: wire.value.data, name: wire.value.name };
    default:
      return { kind: "text", text: wire.value ?? "" };
  }
}

function call({ id, tool, argumentsJson, providerData }: ToolCallPart): RequestedCall {
  return { id, tool, argumentsJson, ...(providerData.length === 0 ? {} : { providerData }) };
}

function image({ mediaType, data, width, height }: ImagePart): AttachedImage {
  return { mediaType, data, width, height };
}

function schema(tool: string, json: string): OfferedTool["inputSchema"] {
  const known = schemas.get(json);
  if (known !== undefined) return known;
  if (schemas.size === MOST_SCHEMAS) schemas.clear();
  const parsed = parse(tool, json);
  schemas.set(json, parsed);
  return parsed;
}

function parse(tool: string, json: string): OfferedTool["inputSchema"] {
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as OfferedTool["inputSchema"];
    throw new SyntaxError("it is not an object");
  } catch (cause) {
    throw new HlvmError({
      code: "invalid_argument",
      reason: "tool_schema_malformed",
      message: `The input schema of the tool ${tool} is not the JSON of an object.`,
      advice: "Send a JSON Schema of an object as input_schema_json.",
      cause,
    });
  }
}
