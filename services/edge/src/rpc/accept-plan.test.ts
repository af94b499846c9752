import { createClient } from "@connectrpc/connect";
import { afterEach, describe, expect, it } from "vitest";
import { fromConnectError } from "@hlvm/connect-errors/from-connect-error";
import {
  ApprovalAnswer,
  ApprovalKind,
  PermissionMode,
  PolicyService,
  type AnswerApprovalRequest,
} from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { callContext } from "@hlvm/rpc/call-context";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { AUTHORIZATION, startTestMesh, type TestMesh } from "../testing/test-mesh.ts";

const [approvalId, sessionId, runId] = [1, 2, 3].map((last) => `7b1f6f0e-0d58-4d4e-9d0a-00000000000${last}`) as [string, string, string];
const PLAN = { approvalId, sessionId, runId, kind: ApprovalKind.PLAN, requestedBy: "user:ada" };
const settings = { mode: PermissionMode.PLAN, allowedTools: ["read_file"], disallowedTools: ["shell_exec"], canAsk: true };
const accepting = { approvalId, answer: ApprovalAnswer.ONCE, text: "1. Do it", mode: PermissionMode.ACCEPT_EDITS, delegation: "of my own" };

let mesh: TestMesh;
afterEach(() => mesh.close());

/** Gives an answer through the edge. @returns what policy got */
async function answer(given: object, approval: object = { ...PLAN, settings }): Promise<AnswerApprovalRequest> {
  const taken: AnswerApprovalRequest[] = [];
  mesh = await startTestMesh((router) =>
    router.service(PolicyService, {
      getApproval: () => ({ approval }),
      answerApproval: (request, context) => {
        const { principal, delegation } = callContext(context);
        expect([principal.id, delegation]).toEqual(["user:ada", undefined]);
        taken.push(request);
        return {};
      },
    }),
  );
  await createClient(PolicyService, createMeshTransport(mesh.url, [])).answerApproval(
    { ...accepting, ...given },
    { headers: AUTHORIZATION },
  );
  return taken[0]!;
}

describe("accepting a plan at the edge", () => {
  it("signs for the plan's own run the settings that policy keeps, with the chosen mode and nothing else changed", async () => {
    const { delegation, text, mode } = await answer({});
    expect([text, mode]).toEqual(["1. Do it", PermissionMode.ACCEPT_EDITS]);
    expect(mesh.delegations.verify(delegation)).toMatchObject({
      principal: { organization: "local", id: "user:ada" },
      sessionId,
      runId,
      settings: { ...settings, mode: PermissionMode.ACCEPT_EDITS },
      authorizedParty: "orchestrator",
    });
  });

  it.each([
    ["a plan of somebody else", {}, { ...PLAN, settings, requestedBy: "user:grace" }],
    ["an action", {}, { ...PLAN, kind: ApprovalKind.UNSPECIFIED }],
    ["a rejection", { answer: ApprovalAnswer.DENY }, undefined],
    ["an answer without a mode", { mode: PermissionMode.UNSPECIFIED }, undefined],
  ])("signs nothing for %s, and hands on nothing that a client sent in its place", async (_, given, approval) => {
    expect((await answer(given, approval)).delegation).toBe("");
  });

  it("asks nobody without a token", async () => {
    mesh = await startTestMesh((router) => router.service(PolicyService, {}));
    const refused = await createClient(PolicyService, createMeshTransport(mesh.url, []))
      .answerApproval(accepting)
      .catch((thrown: unknown) => fromConnectError(thrown));
    expect(refused).toMatchObject({ code: "unauthenticated" });
  });
});
