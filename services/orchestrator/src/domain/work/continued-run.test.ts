import { describe, expect, it } from "vitest";
import { Role } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { Phase, ReminderKind, StopReason, TodoStatus } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { Decision } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { valuesOf } from "../../testing/event-values.ts";
import { readCall } from "../../testing/read-call.ts";
import { useTestOrchestrator } from "../../testing/use-test-orchestrator.ts";

const test = useTestOrchestrator();

describe("a run", () => {
  it("is asked once to go on where the model says what it will do and stops", async () => {
    test.answers(["I'll read a.txt now."], ["", [readCall("a.txt")]], ["Let me check b.txt too."]);
    const { events, stopped } = await test.run();
    expect(valuesOf(events, "reminder").map(({ kind }) => kind)).toEqual([ReminderKind.CONTINUE]);
    expect(stopped).toMatchObject({ reason: StopReason.COMPLETED, turns: 3, text: "Let me check b.txt too." });
    expect(test.fake.seen.requests[1]!.messages.at(-1)!.role).toBe(Role.SYSTEM);
    expect(valuesOf(events, "turnStats").map(({ phase }) => phase)).toEqual([Phase.COMPLETING, Phase.RESEARCHING, Phase.COMPLETING]);
  });

  it("keeps the model's list in its log, secrets replaced, and tells it what is wrong with one that is none", async () => {
    const secret = `ghp_${"a1B2".repeat(9)}`;
    const item = (text: string, status: string) => ({ text, status });
    test.answers(
      ["", [{ id: "1", tool: "todo", arguments: { items: [item("read", "done")] } }]],
      ["", [{ id: "2", tool: "todo", arguments: { items: [item("read", "in_progress"), item(`use ${secret}`, "pending")] } }]],
      ["Done."],
    );
    const { events, results } = await test.run();
    expect(results[0]).toMatchObject({ success: false, content: expect.stringMatching(/"items", at 0.status.*allowed values/) });
    const [written] = valuesOf(events, "todoUpdated");
    expect(written!.items[0]).toMatchObject({ text: "read", status: TodoStatus.IN_PROGRESS });
    expect(written!.items[1]!.text).toMatch(/^use \[secret: /);
    expect(results[1]).toMatchObject({ success: true, content: "Written: 0 of 2 done." });
  });

  it("hears that nobody can be asked, and goes on", async () => {
    test.fake.behaviour.decide = () => ({ decision: Decision.DENY, rule: "question; nobody can be asked", reason: "Nobody can be here." });
    test.answers(["", [{ tool: "request_clarification", arguments: { question: "Which?" } }]], ["I took the first."]);
    const { results, stopped } = await test.run();
    expect(results[0]!.content).toMatch(/nobody can be asked[^]*say in your final answer what you assumed/);
    expect(stopped.reason).toBe(StopReason.COMPLETED);
  });
});
