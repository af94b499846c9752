import type OpenAI from "openai";
import { textOf, type Generation, type Message, type Part } from "../../domain/generation.ts";
import { dataUrl } from "../base64.ts";
import { fittingName } from "../fitting-name.ts";
import { argumentsForReplay, parseArguments } from "../parse-arguments.ts";
import { openProviderData } from "../provider-data.ts";
import { NAME, OPENAI, openaiOptions } from "./openai-options.ts";
import { isSaidMessages, splitText, type SaidMessages } from "./said-messages.ts";

type Request = OpenAI.Responses.ResponseCreateParamsStreaming;
type Item = OpenAI.Responses.ResponseInputItem;

/**
 * A request to `/v1/responses`. Nothing is stored at the provider: its reasoning comes back encrypted and goes along with
 * the next turn. System messages stay where they are.
 */
export function openaiRequest(generation: Generation): Request {
  return {
    model: generation.model,
    stream: true,
    store: false,
    ...openaiOptions(generation),
    input: generation.messages.flatMap((message) => items(generation.model, message)),
    ...(generation.tools.length === 0 ? {} : { tools: generation.tools.map(functionTool) }),
  };
}

/** The same request to `/v1/responses/input_tokens`, which takes what is read and nothing of how to answer. */
export function openaiCount(generation: Generation): OpenAI.Responses.InputTokenCountParams {
  const { model, input, tools, reasoning } = openaiRequest(generation);
  return { model, input, ...(tools === undefined ? {} : { tools }), ...(reasoning === undefined ? {} : { reasoning }) };
}

function functionTool(tool: Generation["tools"][number]): OpenAI.Responses.FunctionTool {
  const { name, description, inputSchema, isStrict = false } = tool;
  return { type: "function", name, description, parameters: { ...inputSchema }, strict: isStrict };
}

function items(model: string, message: Message): Item[] {
  if (message.role === "assistant") return assistantItems(model, message);
  const results = message.parts.flatMap((part): Item[] =>
    part.kind === "tool-result" ? [{ type: "function_call_output", call_id: fittingName(part.id, NAME), output: outputOf(part) }] : [],
  );
  const content = message.parts.some(isFile) ? message.parts.flatMap(contentItem) : textOf(message);
  if (content.length === 0) return results;
  return [...results, { type: "message", role: message.role === "system" ? "developer" : "user", content }];
}

function outputOf({ content, images }: Part & { kind: "tool-result" }): string | OpenAI.Responses.ResponseFunctionCallOutputItemList {
  if (images === undefined) return content;
  const text = content === "" ? [] : [{ type: "input_text" as const, text: content }];
  return [...text, ...images.map((image) => ({ type: "input_image" as const, detail: "auto" as const, image_url: dataUrl(image) }))];
}

function isFile({ kind }: Part): boolean {
  return kind === "image" || kind === "document";
}

function contentItem(part: Part): OpenAI.Responses.ResponseInputContent[] {
  switch (part.kind) {
    case "text":
      return part.text === "" ? [] : [{ type: "input_text", text: part.text }];
    case "image":
      return [{ type: "input_image", detail: "auto", image_url: dataUrl(part) }];
    case "document":
      return [{ type: "input_file", filename: part.name, file_data: dataUrl(part) }];
    default:
      return [];
  }
}

function assistantItems(model: string, { parts }: Message): Item[] {
  const opened = parts.flatMap((part) => (part.kind === "thinking" ? [openProviderData(part.providerData, OPENAI, model)] : []));
  const said = opened.find(isSaidMessages);
  return parts.flatMap((part) => assistantItem(model, part, said));
}

function assistantItem(model: string, part: Part, said: SaidMessages | undefined): Item[] {
  switch (part.kind) {
    case "text":
      return splitText(part.text, said).flatMap(({ text, phase }): Item[] =>
        text === "" ? [] : [{ type: "message", role: "assistant", content: text, ...(phase === undefined ? {} : { phase }) }],
      );
    case "tool-call": {
      const isValid = parseArguments(part.argumentsJson) !== undefined;
      const written = isValid ? part.argumentsJson : JSON.stringify(argumentsForReplay(part.argumentsJson));
      return [{ type: "function_call", call_id: fittingName(part.id, NAME), name: fittingName(part.tool, NAME), arguments: written }];
    }
    case "thinking": {
      const data = openProviderData(part.providerData, OPENAI, model);
      return data === undefined || isSaidMessages(data) ? [] : [data as OpenAI.Responses.ResponseReasoningItem];
    }
    default:
      return [];
  }
}
