import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Principal } from "@hlvm/identity/principal";
import { ApprovalAnswer, ApprovalState, PermissionMode } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { startTestPolicy, type TestPolicy } from "../testing/start-test-policy.ts";
import { callOf, failure, settingsOf, shell, type Asked } from "../testing/test-calls.ts";

const ada: Principal = { organization: "acme", id: "user:ada", roles: ["developer", "approver", "admin"] };
const ben: Principal = { organization: "acme", id: "user:ben", roles: ["approver"] };
const eve: Principal = { organization: "acme", id: "user:eve", roles: ["developer"] };

let policy: TestPolicy;
beforeAll(async () => {
  policy = await startTestPolicy({ fourEyes: new Set(["L2"]) });
});
afterAll(() => policy.close());

/** What Ada's run asks. */
async function asked(call: Asked): Promise<string> {
  const { sessionId, runId, ...rest } = callOf(call);
  const settings = settingsOf({ mode: PermissionMode.DEFAULT });
  const { verdict } = await policy.policy.decide(
    { call: { sessionId, runId, ...rest } },
    policy.forRun({ principal: ada, sessionId, runId, settings }),
  );
  return verdict!.approval!.approvalId;
}
const answer = (approvalId: string, by: Principal, word: ApprovalAnswer = ApprovalAnswer.ONCE) =>
  policy.policy.answerApproval({ approvalId, answer: word }, policy.as(by));
const whyNot = async (approvalId: string, by: Principal): Promise<string> =>
  (await policy.policy.getApproval({ approvalId }, policy.as(by))).approval!.notAnswerable;

describe("four eyes", () => {
  it("have somebody else allow what is destructive, whatever roles the one who asked has, and say so before", async () => {
    const destructive = await asked(shell("rm -rf build"));
    expect(await whyNot(destructive, ada)).toContain("somebody else with the role approver or admin allows it");
    for (const word of [ApprovalAnswer.ONCE, ApprovalAnswer.SESSION])
      expect(await failure(answer(destructive, ada, word))).toMatchObject({ code: "permission_denied", reason: "own_request" });
    expect(await whyNot(destructive, ben)).toBe("");
    expect((await answer(destructive, ben)).approval).toMatchObject({ state: ApprovalState.APPROVED, answeredBy: "user:ben" });
  });

  it("leave to everybody what can be undone, and to say no", async () => {
    const write = await asked({ tool: "write_file", arguments: { path: "a", content: "b" } });
    expect(await whyNot(write, ada)).toBe("");
    expect((await answer(write, ada)).approval).toMatchObject({ state: ApprovalState.APPROVED });
    const destructive = await asked(shell("rm -rf build"));
    expect((await answer(destructive, ada, ApprovalAnswer.DENY)).approval).toMatchObject({ state: ApprovalState.DENIED });
  });

  it("say who may answer to somebody who may not", async () => {
    const call = callOf(shell("rm -rf dist"));
    const { sessionId, runId } = call;
    const settings = settingsOf({ mode: PermissionMode.DEFAULT });
    const { verdict } = await policy.policy.decide({ call }, policy.forRun({ principal: eve, sessionId, runId, settings }));
    expect(await whyNot(verdict!.approval!.approvalId, eve)).toBe("Somebody with the role approver or admin answers this.");
  });
});
