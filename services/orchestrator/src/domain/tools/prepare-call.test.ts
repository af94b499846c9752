import { create } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ToolCallPartSchema } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { nativeTools } from "@hlvm/tools/native-tools";
import { prepareCall, type PreparedCall } from "./prepare-call.ts";

const name = { sessionId: "s", runId: "r", callId: "r.1.1" };
const prepare = (tool: string, argumentsJson: string): PreparedCall =>
  prepareCall(create(ToolCallPartSchema, { id: "p", tool, argumentsJson }), name, nativeTools);

describe("prepareCall", () => {
  it("brings arguments into their canonical form", () => {
    expect(prepare("read_file", '{"start_line": 2, "path":"a"}')).toMatchObject({
      call: { argumentsJson: '{"path":"a","start_line":2}', callId: "r.1.1" },
    });
    expect(prepare("git_status", " ")).toMatchObject({ call: { argumentsJson: "{}" } });
  });

  it("tells the model what is wrong and what would be right", () => {
    expect(prepare("read_file", '{"file":"a"}')).toMatchObject({
      refusal: {
        success: false,
        errorCode: "invalid_arguments",
        content: expect.stringContaining('argument "path" is missing; there is no argument "file"'),
      },
    });
    expect(prepare("read_file", '{"path":')).toMatchObject({ refusal: { content: expect.stringContaining("not valid JSON") } });
    expect(prepare("rm", "{}")).toMatchObject({
      refusal: { errorCode: "not_found", content: expect.stringContaining("read_file, list_files") },
    });
  });

  it("has an answer for whatever a model writes", () => {
    fc.assert(
      fc.property(fc.string(), fc.oneof(fc.string(), fc.json()), (tool, argumentsJson) => {
        expect(prepare(tool, argumentsJson)).toSatisfy((prepared: PreparedCall) => "refusal" in prepared || "call" in prepared);
      }),
    );
  });
});
