import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { CallPriority, Effort, GenerateRequestSchema, ServiceTier } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { decodeOptions } from "./decode-options.ts";

const decoded = (request: MessageInitShape<typeof GenerateRequestSchema>) => decodeOptions(create(GenerateRequestSchema, request));

it("leaves out what a request leaves out", () => {
  expect(decoded({})).toStrictEqual({});
  expect(decoded({ parallelToolCalls: false, topP: 0 })).toStrictEqual({ parallelToolCalls: false, topP: 0 });
});

it("takes what a request asks for", () => {
  const asked: MessageInitShape<typeof GenerateRequestSchema> = {
    toolChoice: { choice: { case: "tool", value: "read_file" } },
    stopSequences: ["END"],
    outputFormat: { name: "answer", schemaJson: '{"type":"object"}', strict: true },
    effort: Effort.MAXIMUM,
    serviceTier: ServiceTier.FLEX,
    priority: CallPriority.BATCH,
    cacheKey: "prefix",
    cacheHour: true,
    userHash: "af",
    fairShare: "acme/ann",
  };
  expect(decoded(asked)).toStrictEqual({
    toolChoice: { kind: "tool", tool: "read_file" },
    stopSequences: ["END"],
    outputFormat: { name: "answer", schema: { type: "object" }, strict: true },
    effort: "maximum",
    serviceTier: "flex",
    priority: "batch",
    cacheKey: "prefix",
    cacheHour: true,
    userHash: "af",
    fairShare: "acme/ann",
  });
  expect(decoded({ toolChoice: { choice: { case: "any", value: true } } })).toStrictEqual({ toolChoice: { kind: "any" } });
});

it.each(["[]", "{", "null"])("refuses %s as the schema of an answer", (schemaJson) => {
  expect(() => decoded({ outputFormat: { name: "answer", schemaJson } })).toThrow(
    expect.objectContaining({ reason: "output_schema_malformed" }),
  );
});
