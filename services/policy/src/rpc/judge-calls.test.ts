import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DecidingStep, Decision, PermissionMode } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { Trust } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { testPrincipal, type TestRun } from "@hlvm/testing/test-identity";
import { startTestPolicy, type TestPolicy } from "../testing/start-test-policy.ts";
import { failure, settingsOf } from "../testing/test-calls.ts";

let service: TestPolicy;
beforeAll(async () => {
  service = await startTestPolicy();
});
afterAll(() => service.close());

const WRITE = { tool: "write_file", argumentsJson: JSON.stringify({ path: "a", content: "b" }) };
const REMOVE = { tool: "shell_exec", argumentsJson: JSON.stringify({ command: "rm -rf build" }) };

const runUnder = (mode: PermissionMode): TestRun => ({
  principal: testPrincipal,
  sessionId: randomUUID(),
  runId: randomUUID(),
  settings: settingsOf({ mode, canAsk: true }),
});

describe("JudgeCalls", () => {
  it("says what the rules say under the settings of the delegation, and neither grants, asks nor records anything", async () => {
    const judged = async (mode: PermissionMode) => {
      const run = runUnder(mode);
      const { verdicts } = await service.policy.judgeCalls({ calls: [WRITE, REMOVE] }, service.forRun(run));
      expect(verdicts.map(({ grant, approval }) => [grant, approval])).toEqual([
        ["", undefined],
        ["", undefined],
      ]);
      expect((await service.audit.query({ sessionId: run.sessionId }, service.as(testPrincipal))).events).toEqual([]);
      return verdicts.map(({ decision }) => decision);
    };
    expect(await judged(PermissionMode.DEFAULT)).toEqual([Decision.ASK, Decision.ASK]);
    expect(await judged(PermissionMode.ACCEPT_EDITS)).toEqual([Decision.ALLOW, Decision.ASK]);
    expect(await judged(PermissionMode.PLAN)).toEqual([Decision.DENY, Decision.DENY]);
  });

  it("counts what came from outside into the context, and denies what cannot be judged", async () => {
    const remember = { tool: "memory_write", argumentsJson: JSON.stringify({ text: "a" }) };
    const calls = [
      remember,
      { ...remember, trustFloor: { trust: Trust.EXTERNAL, source: "read_file in turn 1" } },
      { ...WRITE, argumentsJson: "{" },
      { ...WRITE, tool: "no_such_tool" },
    ];
    const run = { ...runUnder(PermissionMode.DEFAULT), settings: settingsOf({ allowedTools: ["memory_write"], canAsk: true }) };
    const { verdicts } = await service.policy.judgeCalls({ calls }, service.forRun(run));
    expect(verdicts.map(({ decision, step }) => [decision, step])).toEqual([
      [Decision.ALLOW, DecidingStep.EXPLICIT_ALLOW],
      [Decision.ASK, DecidingStep.TRUST_FLOOR],
      [Decision.DENY, DecidingStep.DEFINITION],
      [Decision.DENY, DecidingStep.DEFINITION],
    ]);
  });

  it("is for runs: whoever has no delegation hears nothing", async () => {
    await expect(failure(service.policy.judgeCalls({ calls: [WRITE] }, service.as(testPrincipal)))).resolves.toMatchObject({
      reason: "delegation_missing",
    });
  });
});
