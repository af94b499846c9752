import { HlvmError } from "@hlvm/errors/hlvm-error";
import { CallPriority, Effort, ServiceTier, type GenerateRequest } from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { Effort as DomainEffort, GenerationOptions, OutputFormat } from "../domain/generation.ts";

const EFFORTS: Readonly<Partial<Record<Effort, DomainEffort>>> = {
  [Effort.NONE]: "none",
  [Effort.MINIMAL]: "minimal",
  [Effort.LOW]: "low",
  [Effort.MEDIUM]: "medium",
  [Effort.HIGH]: "high",
  [Effort.MAXIMUM]: "maximum",
};
const TIERS: Readonly<Partial<Record<ServiceTier, NonNullable<GenerationOptions["serviceTier"]>>>> = {
  [ServiceTier.STANDARD]: "standard",
  [ServiceTier.FLEX]: "flex",
  [ServiceTier.PRIORITY]: "priority",
};

/**
 * What a request asks for besides an answer. What it leaves out is left out here too.
 * @throws HlvmError `output_schema_malformed`
 */
export function decodeOptions(request: GenerateRequest): GenerationOptions {
  const { parallelToolCalls, stopSequences, topP, cacheKey, cacheHour, userHash, fairShare } = request;
  const options: { [Name in keyof GenerationOptions]: GenerationOptions[Name] | undefined } = {
    toolChoice: toolChoice(request.toolChoice),
    parallelToolCalls,
    stopSequences: stopSequences.length === 0 ? undefined : stopSequences,
    outputFormat: request.outputFormat && outputFormat(request.outputFormat),
    effort: EFFORTS[request.effort],
    topP,
    cacheKey: cacheKey || undefined,
    cacheHour: cacheHour || undefined,
    userHash: userHash || undefined,
    serviceTier: TIERS[request.serviceTier],
    priority: request.priority === CallPriority.BATCH ? "batch" : undefined,
    fairShare: fairShare || undefined,
  };
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

function toolChoice(wire: GenerateRequest["toolChoice"]): GenerationOptions["toolChoice"] {
  switch (wire?.choice.case) {
    case "none":
    case "any":
      return { kind: wire.choice.case };
    case "tool":
      return { kind: "tool", tool: wire.choice.value };
    default:
      return undefined;
  }
}

function outputFormat({ name, schemaJson, strict }: NonNullable<GenerateRequest["outputFormat"]>): OutputFormat {
  if (schemaJson === "") return { name, strict: false };
  try {
    const schema: unknown = JSON.parse(schemaJson);
    if (typeof schema !== "object" || schema === null || Array.isArray(schema)) throw new SyntaxError("it is not an object");
    return { name, strict, schema: schema as NonNullable<OutputFormat["schema"]> };
  } catch (cause) {
    throw new HlvmError({
      code: "invalid_argument",
      reason: "output_schema_malformed",
      message: `The schema of the output format ${name} is not the JSON of an object.`,
      advice: "Send a JSON Schema of an object as schema_json, or leave it out for any object.",
      cause,
    });
  }
}
