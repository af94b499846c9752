import { describe, expect, it } from "vitest";
import { FinishReason } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { EventSchema, StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { create, toBinary } from "@bufbuild/protobuf";
import type { EventPayload } from "../log/event-payload.ts";
import { eventPayload } from "../log/event-payload.ts";
import { valuesOf } from "../../testing/event-values.ts";
import { readCall } from "../../testing/read-call.ts";
import { useTestOrchestrator } from "../../testing/use-test-orchestrator.ts";

const MEGABYTE = 1024 * 1024;
const test = useTestOrchestrator();

/** Puts a payload in the place of the last event of its type, as an older version would have left it. */
async function replaceLast(sessionId: string, type: string, payload: EventPayload): Promise<void> {
  const bytes = Buffer.from(toBinary(EventSchema, create(EventSchema, { payload })));
  await test.database.query("ALTER TABLE event DISABLE TRIGGER event_is_append_only");
  await test.database.query(
    "UPDATE event SET payload = $3 WHERE session_id = $1 AND seq = (SELECT max(seq) FROM event WHERE session_id = $1 AND type = $2)",
    [sessionId, type, bytes],
  );
  await test.database.query("ALTER TABLE event ENABLE TRIGGER event_is_append_only");
}

describe("an answer over 16 MB", () => {
  it("is stopped with what was said so far, and its session goes on", async () => {
    test.fake.behaviour.generate = async function* () {
      for (let sent = 0; sent < 17; sent++) yield { event: { case: "textDelta", value: "word ".repeat(MEGABYTE / 5) } };
      yield { event: { case: "finish", value: { reason: FinishReason.STOP } } };
    };
    const { sessionId, stopped, events } = await test.run();
    expect(stopped).toMatchObject({ reason: StopReason.ERROR, message: expect.stringContaining("was stopped there") });
    expect(stopped.text).toHaveLength(2 * MEGABYTE);
    expect(valuesOf(events, "assistantMessage")).toMatchObject([{ text: stopped.text }]);

    test.answers(["I see."]);
    expect((await test.run("and now?", { sessionId })).stopped).toMatchObject({ reason: StopReason.COMPLETED, text: "I see." });
  });

  it("that a session holds already can be watched, and the session goes on: both say that it was cut", async () => {
    test.answers(["short"]);
    const { sessionId } = await test.run();
    const text = "word ".repeat((17 * MEGABYTE) / 5);
    await replaceLast(sessionId, "assistant_message", eventPayload("assistantMessage", { text }));
    await replaceLast(sessionId, "run_stopped", eventPayload("runStopped", { text, reason: StopReason.COMPLETED }));

    const [said] = valuesOf(await test.watch(sessionId), "assistantMessage");
    expect(said!.text).toMatch(/^word .*\n\[Cut after \d+ of \d+ characters/);
    test.fake.seen.requests.length = 0;
    test.answers(["I see."]);
    expect((await test.run("and now?", { sessionId })).stopped).toMatchObject({ reason: StopReason.COMPLETED, text: "I see." });
    const sent = test.fake.seen.requests[0]!.messages.flatMap(({ parts }) => parts.map(({ part }) => String(part.value)));
    expect(sent.find((one) => one.startsWith("word "))).toMatch(/\[Cut after 32768 of \d+ characters/);
  });

  it("from a tool does not end the session either", async () => {
    test.answers(["", [readCall("a")]], ["short"]);
    const { sessionId, events } = await test.run();
    const [end] = valuesOf(events, "toolEnd");
    const content = "word ".repeat((17 * MEGABYTE) / 5);
    await replaceLast(sessionId, "tool_end", eventPayload("toolEnd", { ...end!, result: { ...end!.result!, content } }));
    test.answers(["I see."]);
    const { stopped } = await test.run("and now?", { sessionId });
    expect(stopped).toMatchObject({ reason: StopReason.COMPLETED, text: "I see." });
    expect(valuesOf(await test.watch(sessionId), "toolEnd")[0]!.result!.content).toContain("[Cut after");
  });
});
