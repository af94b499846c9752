import { create } from "@bufbuild/protobuf";
import { MessageSchema, PartSchema, Role, type Message, type Part } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { cutText } from "./cut-text.ts";

/** UTF-16 units, of at most three bytes each: with what frames them they stay below what one request may have. */
const CONVERSATION_LENGTH = 4 * 1024 * 1024;
const BYTES_A_UNIT = 3;
/** Of one text that a model said or a tool gave: beyond what any model says at once, and too much for most to read. */
const SAID_LENGTH = 512 * 1024;
/** What is left of such a text: a model has room for several. */
const CUT_LENGTH = 32 * 1024;

/** At least what a cut text says of itself. */
const NOTE_LENGTH = 100;

/**
 * A conversation that can be sent to a model, so that no entry that grew too long ends its session for ever. What was said at
 * such a length is cut, and says so; where the whole is still too long, so are the longest texts, as far as it takes.
 * @param onCut told of each part that another one stands for now
 */
export function fitMessages(messages: readonly Message[], onCut: (from: Part, to: Part) => void = () => undefined): Message[] {
  const readable = messages.map((message) =>
    message.role !== Role.USER && isLonger(message, SAID_LENGTH) ? cut(message, CUT_LENGTH, onCut) : message,
  );
  // Measured once: the lengths of a long conversation's texts lie all over the memory.
  const lengths = readable.flatMap(({ parts }) => parts.map(lengthOf));
  const files = readable.reduce((sum, { parts }) => parts.reduce((all, part) => all + fileLength(part), sum), 0);
  const fits = (length: number): boolean =>
    lengths.reduce((sum, own) => sum + (own > length ? length + NOTE_LENGTH : own), files) <= CONVERSATION_LENGTH;
  if (fits(Infinity)) return readable;
  let length = SAID_LENGTH;
  while (length > 1 && !fits(length)) length = Math.floor(length / 2);
  return readable.map((message) => (isLonger(message, length) ? cut(message, length, onCut) : message));
}

function isLonger({ parts }: Message, length: number): boolean {
  return parts.some((part) => lengthOf(part) > length);
}

/** As a text that takes as many bytes in a request. It is never cut. */
function fileLength({ part }: Part): number {
  return part.case === "image" || part.case === "document" ? Math.ceil(part.value.data.length / BYTES_A_UNIT) : 0;
}

function lengthOf({ part }: Part): number {
  switch (part.case) {
    case "text":
      return part.value.length;
    case "thinking":
      return part.value.text.length + part.value.providerData.length;
    case "toolCall":
      return part.value.argumentsJson.length + part.value.providerData.length;
    case "toolResult":
      return part.value.content.length;
    default:
      return 0;
  }
}

/** Thinking that was cut no longer fits its signature, and is left out; so is what came with a call. */
function cut(message: Message, length: number, onCut: (from: Part, to: Part) => void): Message {
  const parts = message.parts.flatMap((one) => {
    const shorter = lengthOf(one) <= length ? one : cutPart(one, length);
    if (shorter === undefined) return [];
    if (shorter !== one) onCut(one, shorter);
    return [shorter];
  });
  return create(MessageSchema, { role: message.role, parts });
}

function cutPart({ part }: Part, length: number): Part | undefined {
  switch (part.case) {
    case "text":
      return create(PartSchema, { part: { case: "text", value: cutText(part.value, length) } });
    case "toolCall":
      return create(PartSchema, {
        part: {
          case: "toolCall",
          value: { ...part.value, providerData: new Uint8Array(), argumentsJson: cutText(part.value.argumentsJson, length) },
        },
      });
    case "toolResult":
      return create(PartSchema, { part: { case: "toolResult", value: { ...part.value, content: cutText(part.value.content, length) } } });
    default:
      return undefined;
  }
}
