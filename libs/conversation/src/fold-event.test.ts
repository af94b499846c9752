import { create, fromJson, type JsonValue, type MessageInitShape } from "@bufbuild/protobuf";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { Decision } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { EventSchema, StopReason, type Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { Conversation, type Change } from "./conversation.ts";
import type { Item } from "./item.ts";

type Payload = NonNullable<MessageInitShape<typeof EventSchema>["payload"]>;

/** As ReadEvents gave it of a session with an approval, a command that failed, an edit, and a question that was interrupted. */
function recordedSession(): Event[] {
  const path = new URL("../fixtures/recorded-session.json", import.meta.url);
  const { events } = JSON.parse(readFileSync(path, "utf8")) as { events: JsonValue[] };
  return events.map((event) => fromJson(EventSchema, event));
}

function eventsOf(payloads: readonly Payload[], turns: readonly number[] = []): Event[] {
  return payloads.map((payload, index) =>
    create(EventSchema, { payload, sequence: BigInt(index + 1), runId: "r", turn: turns[index] ?? 1, principal: "user:ada" }),
  );
}

function itemsOf(events: readonly Event[]): readonly Item[] {
  const conversation = new Conversation();
  conversation.add(events);
  return conversation.items;
}

describe("a recorded session", () => {
  it("becomes items that are the same whichever way its events come in", () => {
    const events = recordedSession();
    const whole = new Conversation();
    whole.add(events);
    const oneByOne = new Conversation();
    for (const event of events) {
      oneByOne.add([event]);
      oneByOne.add([event]);
    }
    expect(oneByOne.items).toEqual(whole.items);
    expect(new Set(whole.items.map(({ key }) => key)).size).toBe(whole.items.length);
  });

  it("is folded the same with and without the pieces of what is whole", () => {
    const events = recordedSession();
    const pieces: ReadonlySet<string | undefined> = new Set(["messageDelta", "reasoningUpdate", "toolOutput"]);
    const keyless = (items: readonly Item[]) => items.map((item) => ({ ...item, key: "", sequence: 0n, at: undefined }));
    const settled = itemsOf(events.filter(({ payload }) => !pieces.has(payload.case)));
    expect(keyless(settled)).toEqual(keyless(itemsOf(events)));
  });

  it("reads as it was", async () => {
    const lines = itemsOf(recordedSession()).map(lineOf);
    await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("../fixtures/recorded-session.txt");
  });
});

describe("the fold", () => {
  it("puts neighbouring calls of one turn into one group, and follows each to its end", () => {
    const items = itemsOf(
      eventsOf([
        { case: "toolSelected", value: { callId: "a", tool: "read_file", argumentsJson: "{}" } },
        { case: "toolSelected", value: { callId: "b", tool: "shell_exec", argumentsJson: "{}" } },
        { case: "toolStart", value: { callId: "b", tool: "shell_exec", argumentsSummary: "ls" } },
        { case: "toolOutput", value: { callId: "b", output: { text: "one\n" } } },
        { case: "toolOutput", value: { callId: "b", output: { text: "two\n" } } },
        { case: "permissionCheck", value: { callId: "a", tool: "read_file", decision: Decision.DENY, reason: "no" } },
      ]),
    );
    expect(items).toMatchObject([
      {
        kind: "tools",
        calls: [
          { callId: "a", state: "denied", outcome: "no" },
          { callId: "b", state: "running", output: "one\ntwo\n" },
        ],
      },
    ]);
  });

  it("keeps the end of an output that is too long, and says how much is left out", () => {
    const chunk = { case: "toolOutput", value: { callId: "a", output: { text: "x".repeat(40_000) } } } as const;
    const [item] = itemsOf(eventsOf([{ case: "toolStart", value: { callId: "a", tool: "t" } }, chunk, chunk, chunk]));
    expect(item).toMatchObject({ calls: [{ omittedCharacters: 120_000 - 65_536 }] });
  });

  it("takes a message to a run as pending until its model has read it", () => {
    const queued = { case: "messageQueued", value: { text: "stop" } } as const;
    expect(itemsOf(eventsOf([queued]))).toMatchObject([{ kind: "user", isPending: true }]);
    const read = { case: "userMessage", value: { text: "stop", author: "user:bob", queuedSequence: 1n } } as const;
    expect(itemsOf(eventsOf([queued, read]))).toMatchObject([{ kind: "user", isPending: false, author: "user:bob" }]);
  });

  it("ends what is open when the run ends, the question with it", () => {
    const items = itemsOf(
      eventsOf([
        { case: "messageDelta", value: { text: "an answ" } },
        { case: "permissionCheck", value: { callId: "a", decision: Decision.ASK, approval: { callId: "a" } } },
        { case: "runStopped", value: { reason: StopReason.USER_CANCELLED } },
      ]),
    );
    expect(items).toMatchObject([{ kind: "assistant", isOpen: false }, { kind: "approval", state: "unanswered" }, { text: "Interrupted" }]);
  });

  it("says that an answer was cut where its turn begins again", () => {
    const items = itemsOf(
      eventsOf(
        [
          { case: "messageDelta", value: { text: "an" } },
          { case: "thinking", value: {} },
          { case: "messageDelta", value: { text: "another" } },
        ],
        [1, 2, 2],
      ),
    );
    expect(items).toMatchObject([
      { text: "an", isCut: true },
      { text: "another", isOpen: true },
    ]);
  });

  it("says once which model answers in the place of the run's own, and again where that changes", () => {
    const answers = ["openai/a", "openai/a", "openai/b", "", "openai/b", "openai/b"].map((servedBy) => ({
      case: "assistantMessage" as const,
      value: { text: "So.", servedBy, servedWhy: servedBy && "overloaded" },
    }));
    const events = eventsOf(answers, [1, 2, 3, 4, 5, 6]);
    const nextRun = create(EventSchema, { ...events.at(-1)!, sequence: 7n, runId: "s" });
    const told = itemsOf([...events, nextRun]).filter((item) => item.kind === "info" && item.topic === "fallback");
    expect(told.map(({ runId, turn }) => `${runId}${turn}`)).toEqual(["r1", "r3", "r5", "s6"]);
  });

  it("forgets what was undone", () => {
    const items = itemsOf(
      eventsOf([
        { case: "userMessage", value: { text: "one" } },
        { case: "userMessage", value: { text: "two" } },
        { case: "conversationUndone", value: { lastSequence: 1n, toTurn: 1 } },
      ]),
    );
    expect(items).toMatchObject([{ text: "one" }, { kind: "info", text: "Undone: back to turn 1" }]);
  });

  it("lets what is settled be taken, and tells of a plan and a worker what becomes of them then, too", () => {
    const changes: Change[] = [];
    const conversation = new Conversation((change) => changes.push(change));
    const asked = { callId: "w", tool: "write_file", decision: Decision.ASK, approval: { callId: "w" } };
    const worker = { childSessionId: "child", agentTypes: ["general"] };
    const [plan, accepted, spawned, ask, answer, next, step, done, denied] = eventsOf(
      [
        { case: "planCreated", value: { callId: "p", text: "one" } },
        { case: "planAnswered", value: { callId: "p", accepted: true, text: "one", steps: ["one"] } },
        { case: "workerSpawned", value: { childSessionId: "child", agentType: "general" } },
        { case: "workerPermission", value: { ...worker, check: asked } },
        { case: "workerPermission", value: { ...worker, check: { ...asked, decision: Decision.ALLOW, rule: "by ada" } } },
        { case: "messageDelta", value: { text: "an answer" } },
        { case: "planStep", value: { index: 1, completed: true } },
        { case: "workerCompleted", value: { childSessionId: "child", success: true, turns: 2 } },
        { case: "workerPermission", value: { ...worker, check: { callId: "x", tool: "t", decision: Decision.DENY, reason: "no" } } },
      ],
      [1, 1, 1, 1, 1, 2, 2, 2, 2],
    ) as [Event, Event, Event, Event, Event, Event, Event, Event, Event];
    conversation.add([plan]);
    expect(conversation.takeSettled()).toEqual([]);
    conversation.add([accepted, spawned, ask]);
    expect(conversation.takeSettled()).toMatchObject([{ kind: "plan" }, { kind: "worker" }]);
    conversation.add([answer, next]);
    expect(conversation.takeSettled()).toMatchObject([{ kind: "approval", state: "approved", workerAgents: ["general"] }]);
    changes.length = 0;
    conversation.add([step, done, denied]);
    expect(changes).toMatchObject([
      { item: { kind: "plan", steps: [{ isCompleted: true }] }, before: { steps: [{ isCompleted: false }] } },
      { item: { kind: "worker", state: "succeeded", turns: 2 }, before: { state: "running" } },
      { item: { kind: "approval", state: "denied", tool: "t", outcome: "no" }, before: undefined },
    ]);
    expect(conversation.items).toMatchObject([{ kind: "assistant", isOpen: true }, { kind: "approval" }]);
  });

  it("has a line for an event that only a later version knows, and for each that has no item of its own", () => {
    const unknown = create(EventSchema, { sequence: 1n });
    unknown.$unknown = [{ no: 9_999, wireType: 2, data: new Uint8Array([0]) }];
    expect(itemsOf([unknown])).toMatchObject([{ kind: "info", text: expect.stringContaining("newer version") }]);
    for (const { localName, fieldKind } of EventSchema.oneofs[0]!.fields) {
      expect(fieldKind).toBe("message");
      const payload = { case: localName, value: {} } as Payload;
      expect(() => itemsOf(eventsOf([payload]))).not.toThrow();
    }
  });
});

function lineOf(item: Item): string {
  switch (item.kind) {
    case "tools":
      return item.calls
        .map(({ tool, state, summary, outcome }) => `tool ${tool} ${summary} · ${state} · ${outcome.split("\n")[0]}`)
        .join("\n");
    case "approval":
      return `approval ${item.approval.tool} · ${item.state} · ${item.outcome}`;
    case "error":
      return `error ${item.message}`;
    case "memory":
      return `memory ${item.recalled.length} recalled, ${item.written.length} written`;
    case "worker":
      return `worker ${item.agentType} · ${item.state}`;
    case "instructions":
      return `instructions ${item.files.length}`;
    default:
      return `${item.kind} ${item.text.split("\n")[0]}`;
  }
}
