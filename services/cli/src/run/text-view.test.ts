import { create, fromJson, type JsonValue, type MessageInitShape } from "@bufbuild/protobuf";
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { Decision } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { EventSchema, StopReason, type Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { Screen } from "../terminal/screen.ts";
import { TextView } from "./text-view.ts";

type Payload = NonNullable<MessageInitShape<typeof EventSchema>["payload"]>;

function shownOf(events: readonly Event[], { showsQuestions = true, verbose = false } = {}): string {
  let shown = "";
  const output = { isTTY: true, write: (text: string) => void (shown += text) };
  const view = new TextView(new Screen({ ...output }, { ...output, isTTY: false }, true), { verbose, showsQuestions });
  for (const event of events) view.event(event);
  return shown;
}

function shownTo(options: { readonly showsQuestions: boolean; readonly verbose?: boolean }, payloads: readonly Payload[]): string {
  const events = payloads.map((payload, index) => create(EventSchema, { principal: "user:ada", payload, sequence: BigInt(index + 1) }));
  return shownOf(events, options);
}

it.each([true, false])(
  "shows messages to a run when they are queued and when they are read, by whom (showsQuestions: %s)",
  (showsQuestions) => {
    const shown = shownTo({ showsQuestions }, [
      { case: "messageQueued", value: { text: "use the other file", interrupts: false } },
      { case: "messageQueued", value: { text: "stop\nthat\u001b[2J", interrupts: true } },
      { case: "userMessage", value: { text: "use the other file", author: "user:bob", queuedSequence: 7n } },
    ]);
    expect(shown).toBe(
      "user:ada, queued: use the other file\nuser:ada, interrupting: stop\nthat␛[2J\nuser:bob, read now: use the other file\n",
    );
  },
);

it("does not repeat a question to who asked it, and ends the open line of an answer before a message", () => {
  const asked = { case: "userMessage", value: { text: "what?" } } as const;
  expect(shownTo({ showsQuestions: false }, [asked])).toBe("");
  expect(shownTo({ showsQuestions: true }, [asked])).toBe("user:ada: what?\n");
  const shown = shownTo({ showsQuestions: false }, [
    { case: "messageDelta", value: { text: "an answ" } },
    { case: "messageQueued", value: { text: "wait", interrupts: false } },
    { case: "messageDelta", value: { text: "er" } },
  ]);
  expect(shown).toBe("an answ\nuser:ada, queued: wait\ner");
});

it("tells a whole session as it does", async () => {
  const path = new URL("../../../../libs/conversation/fixtures/whole-session.json", import.meta.url);
  const { events } = JSON.parse(readFileSync(path, "utf8")) as { events: JsonValue[] };
  const told = shownOf(events.map((event) => fromJson(EventSchema, event)));
  await expect(told).toMatchFileSnapshot("../../../../libs/conversation/fixtures/whole-session.cli.txt");
});

it("lets nothing out of a session act on the terminal", () => {
  const hostile = "\u001b]52;c;x\u0007\u001b[2J\u202e\u200b\r\n✓ forged";
  const call = { callId: "a", tool: hostile };
  const payloads: readonly Payload[] = [
    { case: "userMessage", value: { text: hostile, attachments: [{ path: hostile, mediaType: hostile }] } },
    { case: "runStarted", value: { model: hostile, workspace: hostile } },
    { case: "reasoningUpdate", value: { text: hostile } },
    { case: "messageDelta", value: { text: hostile } },
    { case: "toolSelected", value: { ...call, argumentsJson: hostile } },
    { case: "permissionCheck", value: { ...call, decision: Decision.ASK, approval: { approvalId: hostile, tool: hostile } } },
    { case: "toolStart", value: { ...call, argumentsSummary: hostile } },
    { case: "permissionCheck", value: { ...call, decision: Decision.DENY, rule: hostile, reason: hostile } },
    { case: "toolEnd", value: { ...call, callId: "b", result: { summary: hostile, content: hostile } } },
    { case: "planCreated", value: { callId: "p", text: hostile } },
    { case: "planAnswered", value: { callId: "p", text: hostile } },
    { case: "todoUpdated", value: { items: [{ text: hostile }] } },
    { case: "memoryActivity", value: { recalled: [hostile], notice: hostile } },
    { case: "workerSpawned", value: { agentType: hostile, task: hostile } },
    { case: "workerPermission", value: { agentTypes: [hostile], check: { ...call, decision: Decision.DENY, reason: hostile } } },
    { case: "comment", value: { text: hostile } },
    { case: "callReplayed", value: { tool: hostile, argumentsSummary: hostile } },
    { case: "runStopped", value: { reason: StopReason.ERROR, message: hostile, advice: hostile } },
  ];
  const told = shownTo({ showsQuestions: true, verbose: true }, payloads);
  expect(told.match(/forged/g)!.length).toBeGreaterThan(payloads.length);
  expect(told).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
  // A name or a target begins no line of its own.
  expect(told).not.toMatch(/^✓ forged.* · \d+ ms/m);
});

it("says that a run waits for room", () => {
  expect(shownTo({ showsQuestions: false }, [{ case: "runQueued", value: {} }])).toBe(
    "As many runs are under way as the server takes; this one waits until another has ended\n",
  );
});
