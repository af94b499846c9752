import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { ModelWorkService } from "@hlvm/proto/hlvm/memory/v1/model_work_pb";
import { callContext } from "@hlvm/rpc/call-context";
import { claimWork, type WorkPorts } from "../domain/model-work/claim-work.ts";
import { putWork } from "../domain/model-work/put-work.ts";
import { viewerOf } from "./viewer-of.ts";
import type { Viewer } from "../domain/viewer.ts";

export function modelWorkMethods(ports: WorkPorts): ServiceImpl<typeof ModelWorkService> {
  return {
    claimModelWork: async ({ maxCharacters, seconds }, context) => {
      const asked = await claimWork(ports, workViewer(context), { maxCharacters, seconds });
      if (asked === undefined) return {};
      const { claimId, kind, text } = asked;
      return kind === "session"
        ? { claimId, work: { case: "session", value: { turnsJson: text } } }
        : { claimId, work: { case: "fact", value: { text } } };
    },
    putModelWork: (request, context) => putWork(ports, workViewer(context), request),
    releaseModelWork: async ({ claimId }, context) => {
      await ports.work.release(workViewer(context), claimId);
      return {};
    },
    countModelWork: async (_request, context) => ports.work.count(await viewerOf(context, ports.projects, "")),
  };
}

/** Of whoever let the orchestrator do it: a person asks no model here, and no approver's right goes with it. */
function workViewer(context: HandlerContext): Viewer {
  const { principal, delegation } = callContext(context);
  if (delegation === undefined)
    throw new HlvmError({
      code: "permission_denied",
      reason: "delegation_missing",
      message: "This is for the orchestrator, which asks a model in somebody's name.",
      advice: "hlvm memory labels on lets it.",
    });
  const { sessionId, runId } = delegation;
  const call = { sessionId, runId, callId: "" };
  return { organization: principal.organization, principal: principal.id, project: "", mayWriteTeamFacts: false, call };
}
