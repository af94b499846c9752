import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { valuesOf } from "../testing/event-values.ts";
import { readCall } from "../testing/read-call.ts";
import { ada } from "../testing/test-orchestrator.ts";
import { useTestOrchestrator } from "../testing/use-test-orchestrator.ts";

const test = useTestOrchestrator();
const eve = { ...ada, id: "user:eve" };

async function aCall(content: string) {
  test.fake.reset();
  test.fake.behaviour.execute = async function* () {
    yield { event: { case: "result", value: { success: true, content } } };
  };
  test.answers(["", [readCall("a"), readCall("b")]], ["done"]);
  const { sessionId, events } = await test.run();
  const callId = valuesOf(events, "toolEnd")[1]!.callId;
  const read = async (more: object = {}, as = ada) =>
    test.orchestrator.client.readOutput({ sessionId, callId, ...more }, await test.orchestrator.as(as));
  return { sessionId, callId, read };
}

describe("ReadOutput", () => {
  it("gives all of a result piece by piece, and none of them ends within a character", async () => {
    const content = `${"x".repeat(9)}😀${"y".repeat(80_000)}`;
    const { read } = await aCall(content);
    const first = await read({ limit: 10 });
    expect([first.text, first.total]).toEqual(["x".repeat(9), content.length]);
    let text = "";
    for (let piece = first; ; piece = await read({ offset: text.length })) {
      text += piece.text;
      if (text.length >= piece.total) break;
    }
    expect(text).toBe(content);
    expect((await read({ offset: content.length + 5 })).text).toBe("");
  });

  it("is for who may read the session, of calls of that session that have ended", async () => {
    const { sessionId, callId, read } = await aCall("mine");
    const other = await aCall("other");
    await expect(read({}, eve)).rejects.toThrow(/There is no session/);
    for (const unknown of [other.callId, `${randomUUID()}.1.1`, "no call", callId.replace(/2$/, "3")])
      await expect(read({ callId: unknown })).rejects.toThrow(`Session ${sessionId} has no result of a call`);
  });
});
