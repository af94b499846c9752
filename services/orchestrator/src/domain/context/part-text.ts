import type { Part } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { fileNote } from "../fold/file-part.ts";

/** A part as a text. */
export function partText(whole: Part): string {
  const { part } = whole;
  switch (part.case) {
    case "text":
      return part.value;
    case "thinking":
      return part.value.text;
    case "toolCall":
      return `${part.value.tool} ${part.value.argumentsJson}`;
    case "toolResult":
      return part.value.content;
    default:
      return fileNote(whole);
  }
}
