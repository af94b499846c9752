import { create } from "@bufbuild/protobuf";
import { MessageSchema, PartSchema, type Message, type Part } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { fileNote } from "./file-part.ts";

/** What one message may bring, so that the newest always fits; with the texts it stays below what one request may have. */
const FILE_BYTES = 8 * 1024 * 1024;
const MOST_FILES = 32;
/** Why a file is not shown. */
export const LATER_FILES = "later files take its room";

/**
 * The conversation with as many of its images and documents as one request has room for, the newest first; of the others the
 * model is told that they were there.
 * @param sizeOf in bytes; undefined of a part that is no file
 * @param onNote told of each part that a note stands for now
 */
export function fitFiles(
  messages: readonly Message[],
  sizeOf: (part: Part) => number | undefined,
  onNote: (from: Part, to: Part) => void,
): Message[] {
  let bytes = 0;
  let count = 0;
  const left = new Set<Part>();
  for (const part of messages.flatMap(({ parts }) => parts).toReversed()) {
    const size = sizeOf(part);
    if (size === undefined) continue;
    bytes += size;
    if (bytes > FILE_BYTES || ++count > MOST_FILES) left.add(part);
  }
  if (left.size === 0) return [...messages];
  return messages.map((message) => {
    if (!message.parts.some((part) => left.has(part))) return message;
    const parts = message.parts.map((part) => {
      if (!left.has(part)) return part;
      const note = create(PartSchema, { part: { case: "text", value: fileNote(part, LATER_FILES) } });
      onNote(part, note);
      return note;
    });
    return create(MessageSchema, { role: message.role, parts });
  });
}
