import { create } from "@bufbuild/protobuf";
import { MessageSchema, PartSchema, Role, type ImagePart, type Message, type Part } from "@hlvm/proto/hlvm/model/v1/model_pb";

export interface ReadResult {
  readonly id: string;
  readonly content: string;
  readonly isError?: boolean;
  readonly images?: readonly ImagePart[];
}

/** The messages of a request as they are read: those of one role in a row are one, and results know whose call they answer. */
export class ConversationReader {
  readonly messages: Message[] = [];
  readonly #tools = new Map<string, string>();

  add(role: Role, parts: readonly Part[]): void {
    if (parts.length === 0) return;
    const last = this.messages.at(-1);
    if (last?.role === role && role !== Role.USER) last.parts.push(...parts);
    else this.messages.push(create(MessageSchema, { role, parts: [...parts] }));
  }

  call(id: string, tool: string, argumentsJson: string, providerData = new Uint8Array()): Part {
    this.#tools.set(id, tool);
    return create(PartSchema, { part: { case: "toolCall", value: { id, tool, argumentsJson, providerData } } });
  }

  addResult({ id, content, isError = false, images = [] }: ReadResult): void {
    const value = { id, tool: this.#tools.get(id) ?? "", content, isError, images: [...images] };
    this.add(Role.TOOL, [create(PartSchema, { part: { case: "toolResult", value } })]);
  }
}

export function thinkingPart(text: string, providerData = new Uint8Array()): Part {
  return create(PartSchema, { part: { case: "thinking", value: { text, providerData } } });
}
