import { create } from "@bufbuild/protobuf";
import { OutcomeStatus } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { EventSchema } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { ToolResultSchema } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { expect, it } from "vitest";
import type { Outcome, Receipt } from "../loop/ports.ts";
import { recordLostOutcomes } from "./record-lost-outcomes.ts";

const lease = { sessionId: "s", runId: "r", owner: "o" };
const run = { lease, stateless: false, principal: "user:ada", appended: 4, turns: 1, toolCalls: 1 };
const calls = [1, 2, 3].map((place) => ({ id: `p${place}`, tool: "shell_exec", argumentsJson: "{}" }));
const event = (payload: Parameters<typeof create<typeof EventSchema>>[1], runId = "r") =>
  create(EventSchema, { runId, turn: 1, ...payload });
const events = [
  event({ payload: { case: "assistantMessage", value: { toolCalls: calls } } }, "another"),
  event({ payload: { case: "assistantMessage", value: { toolCalls: calls } } }),
  event({ payload: { case: "toolEnd", value: { callId: "r.1.1" } } }),
];

it("gives each call of an abandoned run that has no end the outcome of its receipt, or that it is not known", async () => {
  const recorded: Outcome[] = [];
  const receipts: Readonly<Record<string, Receipt>> = {
    "r.1.2": { state: "done", result: create(ToolResultSchema, { success: true, summary: "2 lines", durationMilliseconds: 7 }) },
  };
  await recordLostOutcomes(run, events, {
    audit: { recordOutcome: async (outcome) => void recorded.push(outcome) },
    sandbox: { receipt: async (_, callId) => receipts[callId] ?? Promise.reject(new Error("gone")) },
  });
  expect(recorded).toMatchObject([
    { callId: "r.1.2", status: OutcomeStatus.SUCCEEDED, summary: "2 lines", durationMilliseconds: 7 },
    { callId: "r.1.3", status: OutcomeStatus.FAILED, summary: expect.stringContaining("not known whether it took effect") },
  ]);
});
