import { create } from "@bufbuild/protobuf";
import {
  Effort,
  OutputFormatSchema,
  ServiceTier,
  ToolDefinitionSchema,
  type OutputFormat,
  type ToolDefinition,
} from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { Fields } from "./fields.ts";

const EFFORTS = {
  none: Effort.NONE,
  minimal: Effort.MINIMAL,
  low: Effort.LOW,
  medium: Effort.MEDIUM,
  high: Effort.HIGH,
  xhigh: Effort.MAXIMUM,
  max: Effort.MAXIMUM,
} as const;
const TIERS = {
  auto: ServiceTier.UNSPECIFIED,
  default: ServiceTier.STANDARD,
  standard_only: ServiceTier.STANDARD,
  flex: ServiceTier.FLEX,
  priority: ServiceTier.PRIORITY,
} as const;
const ANY_OBJECT = '{"type":"object","properties":{}}';

export const MOST_OUTPUT_TOKENS = 1_000_000;

/** @throws FieldError */
export function effort(fields: Fields | undefined, name: string): Effort {
  const word = fields?.word(name, Object.keys(EFFORTS) as (keyof typeof EFFORTS)[]);
  return word === undefined ? Effort.UNSPECIFIED : EFFORTS[word];
}

/** @throws FieldError */
export function serviceTier(fields: Fields): ServiceTier {
  const word = fields.word("service_tier", Object.keys(TIERS) as (keyof typeof TIERS)[]);
  return word === undefined ? ServiceTier.UNSPECIFIED : TIERS[word];
}

/** @param schema the name of the field with its JSON Schema @throws FieldError */
export function tool(fields: Fields, schema: string): ToolDefinition {
  return create(ToolDefinitionSchema, {
    name: fields.text("name"),
    description: fields.optionalText("description") ?? "",
    inputSchemaJson: fields.json(schema) ?? ANY_OBJECT,
    strict: fields.flag("strict") ?? false,
  });
}

/** `response_format` of chat completions is nested once more than `text.format` of Responses. @throws FieldError */
export function outputFormat(format: Fields | undefined, isNested: boolean): OutputFormat | undefined {
  const type = format?.word("type", ["text", "json_object", "json_schema"]);
  if (format === undefined || type === undefined || type === "text") return undefined;
  if (type === "json_object") return create(OutputFormatSchema, { name: "answer" });
  const fields = isNested ? format.object("json_schema") : format;
  if (fields === undefined) throw format.error("json_schema", "is missing");
  const read = create(OutputFormatSchema, {
    name: fields.optionalText("name") ?? "answer",
    schemaJson: fields.json("schema") ?? "",
    strict: fields.flag("strict") ?? false,
  });
  fields.end(["description"]);
  format.end();
  return read;
}

/** The hour that a cache is to keep a prefix. @throws FieldError */
export function keepsAnHour(fields: Fields): boolean {
  return fields.word("prompt_cache_retention", ["in_memory", "in-memory", "24h"]) === "24h";
}
