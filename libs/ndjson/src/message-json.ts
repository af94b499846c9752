import type { DescEnum, DescMessage, Message } from "@bufbuild/protobuf";
import { reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import { timestampDate, TimestampSchema, type Timestamp } from "@bufbuild/protobuf/wkt";
import { enumWord } from "./enum-word.ts";
import { SafetyLevelSchema } from "@hlvm/proto/hlvm/tool/v1/tool_pb";

type Json = string | number | boolean | Json[] | { [field: string]: Json };

/**
 * A message of the contracts for a program: the contract's field names, enums as words (`explicit_allow`), 64-bit numbers as
 * JSON numbers, times in ISO 8601. Every field is there, besides those of messages and times that are not set.
 */
export function messageJson(description: DescMessage, message: Message): { [field: string]: Json } {
  return fieldsOf(reflect(description, message));
}

function fieldsOf(message: ReflectMessage): { [field: string]: Json } {
  const json: { [field: string]: Json } = {};
  for (const field of message.desc.fields) {
    if (field.fieldKind === "scalar") json[field.name] = scalar(message.get(field));
    else if (field.fieldKind === "enum") json[field.name] = word(field.enum, message.get(field));
    else if (field.fieldKind === "message" && message.isSet(field)) json[field.name] = nested(message.get(field));
    else if (field.fieldKind === "list" && field.listKind === "scalar") json[field.name] = Array.from(message.get(field), scalar);
    else if (field.fieldKind === "list" && field.listKind === "enum")
      json[field.name] = Array.from(message.get(field), (value) => word(field.enum, value as number));
    else if (field.fieldKind === "list" && field.listKind === "message")
      json[field.name] = Array.from(message.get(field), (item) => nested(item as ReflectMessage));
  }
  return json;
}

function nested(message: ReflectMessage): Json {
  if (message.desc.typeName !== TimestampSchema.typeName) return fieldsOf(message);
  return timestampDate(message.message as Timestamp).toISOString();
}

/** Safety levels are written L0, L1, L2 everywhere. */
function word(description: DescEnum, value: number): string {
  const lower = enumWord(description, value);
  return description.typeName === SafetyLevelSchema.typeName ? lower.toUpperCase() : lower;
}

function scalar(value: unknown): Json {
  return typeof value === "bigint" ? Number(value) : (value as string | number | boolean);
}
