import { create, fromJson, type JsonValue, type MessageInitShape } from "@bufbuild/protobuf";
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { Decision } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { EventSchema, StopReason, type Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { MarkdownTranscript } from "./markdown-transcript.ts";

type Payload = NonNullable<MessageInitShape<typeof EventSchema>["payload"]>;

function eventOf(payload: Payload, index: number, turn = 1): Event {
  return create(EventSchema, { payload, sequence: BigInt(index + 1), runId: "r", turn, principal: "user:ada" });
}

function transcriptOf(events: readonly Event[]): string {
  const transcript = new MarkdownTranscript();
  return events.map((event) => transcript.add(event)).join("") + transcript.end();
}

it("tells a whole session as it does", async () => {
  const path = new URL("../../../../../libs/conversation/fixtures/whole-session.json", import.meta.url);
  const { events } = JSON.parse(readFileSync(path, "utf8")) as { events: JsonValue[] };
  const told = transcriptOf(events.map((event) => fromJson(EventSchema, event)));
  await expect(told).toMatchFileSnapshot("../../../../../libs/conversation/fixtures/whole-session.md");
});

it("writes what is settled at once, also while a plan and a worker go on, and what becomes of them behind it", () => {
  const transcript = new MarkdownTranscript();
  const payloads: readonly (readonly [Payload, number])[] = [
    [{ case: "planCreated", value: { callId: "p", text: "the plan" } }, 1],
    [{ case: "planAnswered", value: { callId: "p", accepted: true, text: "the plan", steps: ["one"] } }, 1],
    [{ case: "workerSpawned", value: { childSessionId: "w", agentType: "explore", task: "look" } }, 1],
    [{ case: "assistantMessage", value: { text: "meanwhile" } }, 2],
    [{ case: "planStep", value: { index: 1, step: "one", completed: true } }, 2],
    [{ case: "workerCompleted", value: { childSessionId: "w", agentType: "explore", success: true } }, 2],
    [{ case: "thinking", value: {} }, 3],
  ];
  const written = payloads.map(([payload, turn], index) => transcript.add(eventOf(payload, index, turn)));
  expect(written[1]).toContain("the plan");
  expect(written[2]).toContain("Worker started");
  expect(written[6]).toMatch(/meanwhile[^]*Step 1 done[^]*Worker done/);
  expect(transcript.end()).toBe("");
});

it("shows what hides in a session, and none of it is markup", () => {
  const hostile = "\u001b[2J\u202e\n# heading\n```\n![x](http://evil.example/)";
  const call = { callId: "a", tool: hostile };
  const payloads: readonly Payload[] = [
    { case: "userMessage", value: { text: hostile, author: hostile, attachments: [{ path: hostile, mediaType: hostile }] } },
    { case: "toolSelected", value: { ...call, argumentsJson: hostile } },
    { case: "toolStart", value: { ...call, argumentsJson: hostile, argumentsSummary: hostile } },
    { case: "permissionCheck", value: { ...call, decision: Decision.ASK, approval: {} } },
    { case: "permissionCheck", value: { ...call, decision: Decision.DENY, rule: hostile, reason: hostile } },
    { case: "toolEnd", value: { callId: "b", tool: hostile, result: { summary: hostile, content: hostile } } },
    { case: "planCreated", value: { callId: "p", text: hostile } },
    { case: "planAnswered", value: { callId: "p", text: hostile } },
    { case: "workerSpawned", value: { agentType: hostile, task: hostile } },
    { case: "memoryActivity", value: { recalled: [hostile], notice: hostile } },
    { case: "comment", value: { text: hostile } },
    { case: "callReplayed", value: { tool: hostile } },
    { case: "todoUpdated", value: { items: [{ text: hostile }] } },
    { case: "runStopped", value: { reason: StopReason.ERROR, message: hostile, advice: hostile } },
  ];
  const told = transcriptOf(payloads.map((payload, index) => eventOf(payload, index)));
  expect(told).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
  const unfenced = told.replace(/^(`{3,})\w*\n[^]*?\n\1$/gm, "");
  expect(unfenced).not.toMatch(/^# heading|[^\\]!\[|^```/m);
  expect(told).toContain("<U+001B>");
});
