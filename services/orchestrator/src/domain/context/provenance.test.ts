import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { ContextKind } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { ToolResultSchema, Trust } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { findNativeTool } from "@hlvm/tools/native-tools";
import type { ToolDefinition } from "@hlvm/tools/tool-definition";
import { compareWorth, lowerFloor, withTrust, type Provenance } from "./provenance.ts";

const readFile = findNativeTool("read_file")!;
const trustOf = (definition: ToolDefinition, said: Trust = Trust.UNSPECIFIED): Trust =>
  withTrust(create(ToolResultSchema, { success: true, trust: said }), definition).trust;

it("trusts what a tool found in the workspace, and nothing of a tool that nobody classified", () => {
  expect(trustOf(readFile)).toBe(Trust.VERIFIED);
  expect(trustOf(findNativeTool("memory_search")!)).toBe(Trust.INFERRED);
  expect(trustOf({ ...readFile, trustTier: "plugin" })).toBe(Trust.EXTERNAL);
  expect(trustOf({ ...readFile, executor: "web" as ToolDefinition["executor"] })).toBe(Trust.EXTERNAL);
});

it("lets an executor lower the trust in its result, and never raise it", () => {
  expect(trustOf(readFile, Trust.EXTERNAL)).toBe(Trust.EXTERNAL);
  expect(trustOf({ ...readFile, trustTier: "plugin" }, Trust.VERIFIED)).toBe(Trust.EXTERNAL);
});

it("names the fragment that lowered the floor first, and never raises it again", () => {
  const floor = (trust: Trust, source: string) => ({ $typeName: "hlvm.tool.v1.TrustFloor" as const, trust, source });
  const external = lowerFloor(floor(Trust.USER_CLAIMED, "user:ada"), floor(Trust.EXTERNAL, "first"));
  expect(lowerFloor(external, floor(Trust.EXTERNAL, "second"))).toMatchObject({ source: "first" });
  expect(lowerFloor(external, floor(Trust.VERIFIED, "read_file"))).toMatchObject({ source: "first" });
});

it("orders by kind, then by trust, then what is newer", () => {
  const one = (kind: ContextKind, trust: Trust, sequence: bigint): Provenance => ({ source: `${sequence}`, kind, trust, sequence });
  const all = [
    one(ContextKind.RAW, Trust.VERIFIED, 6n),
    one(ContextKind.EVIDENCE, Trust.EXTERNAL, 4n),
    one(ContextKind.SUMMARY, Trust.INFERRED, 5n),
    one(ContextKind.EVIDENCE, Trust.VERIFIED, 2n),
    one(ContextKind.EVIDENCE, Trust.VERIFIED, 3n),
    one(ContextKind.INSTRUCTION, Trust.USER_CLAIMED, 1n),
  ];
  expect(all.toSorted(compareWorth).map(({ source }) => source)).toEqual(["1", "3", "2", "4", "5", "6"]);
});
