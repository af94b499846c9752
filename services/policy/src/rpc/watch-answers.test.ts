import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Principal } from "@hlvm/identity/principal";
import { ApprovalAnswer } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { testPrincipal } from "@hlvm/testing/test-identity";
import { startTestPolicy, type TestPolicy } from "../testing/start-test-policy.ts";
import { callOf, failure, shell } from "../testing/test-calls.ts";

const person: Principal = { ...testPrincipal, id: "user:ada", roles: ["developer"] };

let service: TestPolicy;
beforeAll(async () => {
  service = await startTestPolicy();
});
afterAll(() => service.close());

async function askedRun(): Promise<{ runId: string; sessionId: string; approvalId: string }> {
  const call = callOf({ ...shell("npm test"), runId: randomUUID() });
  const { sessionId, runId } = call;
  const { verdict } = await service.policy.decide({ call }, service.forRun({ principal: person, sessionId, runId }));
  return { runId, sessionId, approvalId: verdict!.approval!.approvalId };
}

const answer = (approvalId: string, given: ApprovalAnswer = ApprovalAnswer.ONCE) =>
  service.policy.answerApproval({ approvalId, answer: given }, service.as(testPrincipal));

/** What one watch tells, in its order. */
function watch() {
  const stop = new AbortController();
  const told: string[] = [];
  const read = async (): Promise<void> => {
    for await (const { runIds } of service.answers.watchAnswers({}, { ...service.asOrchestrator(), signal: stop.signal }))
      told.push(...runIds);
  };
  const ended = read().catch(() => undefined);
  return { told, stop: () => (stop.abort(), ended) };
}

describe("WatchAnswers", () => {
  it("tells of the answers that nobody has taken or that have just been taken, then of those that come, each once", async () => {
    const [before, taken, denied, later] = [await askedRun(), await askedRun(), await askedRun(), await askedRun()];
    await answer(before.approvalId);
    await answer(taken.approvalId);
    await service.policy.awaitApproval({ approvalId: taken.approvalId }, service.forRun({ principal: person, ...taken }));
    const watching = watch();
    await expect.poll(() => watching.told.toSorted()).toEqual([before.runId, taken.runId].toSorted());
    watching.told.length = 0;
    await answer(denied.approvalId, ApprovalAnswer.DENY);
    await expect.poll(() => watching.told).toEqual([denied.runId]);
    await answer(later.approvalId);
    await expect.poll(() => watching.told).toEqual([denied.runId, later.runId]);
    await watching.stop();
  });

  it("tells of an answer also where the notification of it was lost", { timeout: 20_000 }, async () => {
    const { approvalId, runId } = await askedRun();
    const watching = watch();
    const sql = "UPDATE approval SET answer = 'once', answered_by = 'user:bob', answered_at = now() WHERE approval_id = $1";
    await service.database.database.query(sql, [approvalId]);
    await expect.poll(() => watching.told, { timeout: 15_000 }).toContain(runId);
    await watching.stop();
  });

  it.each([
    ["a person", () => service.as({ ...testPrincipal, roles: ["admin"] })],
    ["a run", () => service.forRun({ principal: person })],
  ])("is not for %s", async (_, options) => {
    const read = async (): Promise<void> => {
      for await (const _ of service.answers.watchAnswers({}, options()));
    };
    expect(await failure(read())).toMatchObject({ code: "unauthenticated", reason: "token_refused" });
  });

  it("is all that the orchestrator may call in its own name", async () => {
    expect(await failure(service.policy.listApprovals({}, service.asOrchestrator()))).toMatchObject({ reason: "token_refused" });
    expect(await failure(service.audit.query({}, service.asOrchestrator()))).toMatchObject({ reason: "token_refused" });
  });
});
