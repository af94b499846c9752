import { create } from "@bufbuild/protobuf";
import { MessageSchema, Role, type Message, type Part } from "@hlvm/proto/hlvm/model/v1/model_pb";

/**
 * Puts instructions into a conversation as a system message of their own, and takes out what is no longer trusted. What stands
 * before them is left as it is, to the byte.
 * @param isAtBeginning of a run: they come before its question; else behind all that there is
 */
export function insertInstructions(
  messages: readonly Message[],
  added: readonly Part[],
  dropped: ReadonlySet<Part>,
  isAtBeginning: boolean,
): Message[] {
  const left = dropped.size === 0 ? [...messages] : messages.flatMap((message) => without(message, dropped));
  if (added.length === 0) return left;
  const message = create(MessageSchema, { role: Role.SYSTEM, parts: [...added] });
  const question = isAtBeginning ? left.findLastIndex(({ role }) => role === Role.USER) : -1;
  return question < 0 ? [...left, message] : left.toSpliced(question, 0, message);
}

function without(message: Message, dropped: ReadonlySet<Part>): Message[] {
  if (message.role !== Role.SYSTEM) return [message];
  const parts = message.parts.filter((part) => !dropped.has(part));
  if (parts.length === message.parts.length) return [message];
  return parts.length === 0 ? [] : [create(MessageSchema, { role: message.role, parts })];
}
