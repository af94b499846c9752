import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { HeldChangeSchema, ToolResultSchema, type ToolResult } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { describe, expect, it } from "vitest";
import { askToKeep } from "./ask-to-keep.ts";
import type { ReadyCall } from "./prepare-call.ts";

const asked = { sessionId: "s", runId: "r", callId: "r.1.1", tool: "shell_exec", argumentsJson: "{}", definitionHash: "h" };
const heldChange = create(HeldChangeSchema, { changeId: "id", paths: [".git/config"], diff: "+evil" });
const result = create(ToolResultSchema, { success: false, errorCode: "protected_path", content: "done", exitCode: 0, heldChange });

async function keptBy(
  answer: MessageInitShape<typeof ToolResultSchema>,
  given = result,
): Promise<{ readonly result: ToolResult; readonly calls: ReadyCall[] }> {
  const calls: ReadyCall[] = [];
  const kept = await askToKeep(given, asked, async (ready) => {
    calls.push(ready);
    return create(ToolResultSchema, answer);
  });
  return { result: kept, calls };
}

describe("a change that was put back", () => {
  it("is asked about by a call of its own, whose arguments are the whole change", async () => {
    const { calls } = await keptBy({ success: true });
    expect(calls).toHaveLength(1);
    expect(calls[0]!.call).toMatchObject({
      sessionId: "s",
      runId: "r",
      callId: "r.1.1.keep",
      tool: "keep_changes",
      argumentsJson: '{"change_id":"id","diff":"+evil","paths":[".git/config"]}',
    });
  });

  it("makes the command a success where a person allowed it and the command itself was one", async () => {
    expect((await keptBy({ success: true })).result).toMatchObject({
      success: true,
      errorCode: "",
      content: expect.stringContaining("A person allowed the change"),
    });
    const failed = create(ToolResultSchema, { ...result, exitCode: 3 });
    expect((await keptBy({ success: true }, failed)).result).toMatchObject({ success: false, errorCode: "protected_path" });
  });

  it("stays put back where nobody allowed it, and the model is told so", async () => {
    const { result: told } = await keptBy({ success: false, content: "Not approved" });
    expect(told).toMatchObject({ success: false, errorCode: "protected_path", content: "done\n[Not approved]" });
  });
});

it("asks nothing of a call that changed nothing of the kind", async () => {
  const plain = create(ToolResultSchema, { success: true, content: "x" });
  expect(await keptBy({}, plain)).toEqual({ result: plain, calls: [] });
});
