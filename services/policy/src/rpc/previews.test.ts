import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Principal } from "@hlvm/identity/principal";
import { ApprovalAnswer } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { testPrincipal } from "@hlvm/testing/test-identity";
import { startTestPolicy, type TestPolicy } from "../testing/start-test-policy.ts";
import { callOf, failure, settingsOf } from "../testing/test-calls.ts";

const alice: Principal = { ...testPrincipal, id: "user:alice" };
const bob: Principal = { ...testPrincipal, id: "user:bob" };
const SEEN = "ab".repeat(32);
const DIFF = "@@ -1,1 +1,1 @@\n-a\u202e\n+b";

let service: TestPolicy;
beforeAll(async () => {
  service = await startTestPolicy();
});
afterAll(() => service.close());

/** A call that waits for an answer, with what it would change. */
async function asked(presentSha256 = SEEN, diff = DIFF) {
  const call = callOf({ tool: "write_file", arguments: { path: "a", content: randomUUID() } });
  const run = { principal: alice, sessionId: call.sessionId, runId: call.runId, settings: settingsOf({ canAsk: true }) };
  const { verdict } = await service.policy.decide({ call }, service.forRun(run));
  const { approvalId } = verdict!.approval!;
  const preview = { approvalId, presentSha256, presentBytes: 7n, diff };
  const { preview: attached } = await service.policy.attachPreview(preview, service.forRun(run));
  const answer = (previewHash: string, given: ApprovalAnswer = ApprovalAnswer.ONCE) =>
    service.policy.answerApproval({ approvalId, answer: given, previewHash }, service.as(bob));
  return { call, run, approvalId, preview, hash: attached!.hash, answer };
}

/** What a grant says, which only its executor has to believe. */
const claimsOf = (grant: string) => JSON.parse(Buffer.from(grant.split(".")[1]!, "base64url").toString()) as { expectedSha256?: string };

describe("the preview of an approval", () => {
  it("is shown with the approval, nothing hidden in it, and an answer to another one is refused", async () => {
    const { approvalId, hash, answer } = await asked();
    const { approval } = await service.policy.getApproval({ approvalId }, service.as(bob));
    expect(approval!.preview).toMatchObject({ hash, present: true, presentBytes: 7n, omittedCharacters: 0 });
    expect(approval!.preview!.lines.map(({ spans }) => spans.map(({ text }) => text))).toEqual([
      ["@@ -1,1 +1,1 @@"],
      ["-", "a", "U+202E"],
      ["+", "b"],
    ]);
    const listed = (await service.policy.listApprovals({}, service.as(bob))).approvals.find((one) => one.approvalId === approvalId);
    expect(listed!.preview).toMatchObject({ hash, lines: [] });
    await expect(failure(answer("cd".repeat(32)))).resolves.toMatchObject({ reason: "preview_differs" });
    await expect(answer("cd".repeat(32), ApprovalAnswer.DENY)).resolves.toMatchObject({ approval: { answeredBy: "user:bob" } });
  });

  it("holds the grant to the file as it was shown, also one that is given again", async () => {
    for (const present of [SEEN, ""]) {
      const { approvalId, call, run, hash, answer } = await asked(present);
      await answer(hash);
      const granted = async () => (await service.policy.awaitApproval({ approvalId }, service.forRun(run))).verdict!.grant;
      const grants = [await granted(), await granted(), (await service.policy.decide({ call }, service.forRun(run))).verdict!.grant];
      expect(grants.map((grant) => claimsOf(grant).expectedSha256)).toEqual([present, present, present]);
    }
  });

  it("is the first one, of the run that asked, and goes with the arguments", async () => {
    const { approvalId, preview, run, hash, answer } = await asked();
    const later = { ...preview, presentSha256: "cd".repeat(32) };
    expect((await service.policy.attachPreview(later, service.forRun(run))).preview!.hash).toBe(hash);
    const others = [service.forRun({ ...run, runId: randomUUID() }), service.forRun({ ...run, principal: bob }), service.as(alice)];
    const refused = await Promise.all(others.map((options) => failure(service.policy.attachPreview(later, options))));
    expect(refused).toMatchObject([{ reason: "delegation_differs" }, { reason: "approval_not_found" }, { reason: "delegation_missing" }]);
    await answer(hash, ApprovalAnswer.DENY);
    await service.policy.awaitApproval({ approvalId }, service.forRun(run));
    expect((await service.policy.getApproval({ approvalId }, service.as(bob))).approval!.preview).toBeUndefined();
  });
});
