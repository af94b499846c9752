import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { ListApprovalsRequest, PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { callContext } from "@hlvm/rpc/call-context";
import type { FourEyes } from "../domain/authority/authority.ts";
import { answerApproval, whyNotAnswerable } from "../domain/approval/answer-approval.ts";
import { answerApprovals } from "../domain/approval/answer-approvals.ts";
import { WHOLE_RENDERING_BYTES, type RenderApproval } from "../domain/approval/approval-renderer.ts";
import type { ApprovalStore } from "../domain/approval/approval-store.ts";
import { getApproval } from "../domain/approval/get-approval.ts";
import { findApprovals, listApprovals, type AskedApprovals } from "../domain/approval/list-approvals.ts";
import { demandPerson } from "../domain/demand-person.ts";
import { encodeApproval } from "./encode-approval.ts";
import { refuseControlCharacters } from "./refuse-control-characters.ts";
import { answers, levels, modes, states, wordOf } from "./words.ts";

const DEFAULT_PAGE = 200;

/** What people do with approvals. */
export function approvalMethods(
  approvals: ApprovalStore,
  render: RenderApproval,
  fourEyes: FourEyes,
): Pick<ServiceImpl<typeof PolicyService>, "listApprovals" | "getApproval" | "answerApproval" | "answerApprovals"> {
  return {
    listApprovals: async (request, context) => {
      const { principal, delegation } = callContext(context);
      demandPerson(delegation);
      const asked = decodeAsked(request);
      if (asked === undefined) {
        const pending = await listApprovals(approvals, principal, request.sessionId || undefined);
        return { approvals: pending.map((approval) => encodeApproval(approval)) };
      }
      const found = await findApprovals(approvals, principal, asked);
      return { approvals: found.approvals.map((approval) => encodeApproval(approval)), nextPageToken: found.nextPageToken };
    },
    getApproval: async ({ approvalId }, context) => {
      const { principal, delegation } = callContext(context);
      demandPerson(delegation);
      const approval = await getApproval(approvals, principal, approvalId);
      return {
        approval: {
          ...encodeApproval(approval, await render(approval, WHOLE_RENDERING_BYTES)),
          notAnswerable: whyNotAnswerable(approval, principal, fourEyes),
        },
      };
    },
    answerApproval: async (request, context) => {
      const { approvalId, answer, argumentsHash, previewHash, text, mode, delegation: signed, reason, idempotencyKey } = request;
      const { principal, delegation, traceId } = callContext(context);
      demandPerson(delegation);
      // Where no answer was given the request was refused before; should it come here, it is a no.
      const word = wordOf(answers, answer) ?? "deny";
      const said = { text, mode: wordOf(modes, mode), delegation: signed, reason, idempotencyKey: idempotencyKey || undefined };
      const given = { approvalId, answer: word, argumentsHash, previewHash, ...said };
      return { approval: encodeApproval(await answerApproval(approvals, { principal, traceId, fourEyes }, given)) };
    },
    answerApprovals: async ({ approvals: wanted, answer, reason, idempotencyKey }, context) => {
      const { principal, delegation, traceId } = callContext(context);
      demandPerson(delegation);
      const word = wordOf(answers, answer) === "once" ? "once" : "deny";
      const given = { approvals: wanted, answer: word, reason, idempotencyKey: idempotencyKey || undefined } as const;
      const answered = await answerApprovals(approvals, { principal, traceId, fourEyes }, given);
      return {
        answered: answered.map((one) =>
          "approval" in one
            ? { approvalId: one.approvalId, approval: encodeApproval(one.approval) }
            : { approvalId: one.approvalId, refusedReason: one.refused.reason, refusedMessage: one.refused.message },
        ),
      };
    },
  };
}

/** Undefined where nothing but what waits is asked for, whole: then each session has its share. */
function decodeAsked(request: ListApprovalsRequest): AskedApprovals | undefined {
  const { tool, requestedBy, answeredBy, requestedSince, requestedBefore, pageSize, pageToken } = request;
  refuseControlCharacters({ tool, requested_by: requestedBy, answered_by: answeredBy, page_token: pageToken });
  const given = [tool, requestedBy, answeredBy, requestedSince, requestedBefore, pageSize, pageToken, request.safetyLevel];
  if (request.states.length === 0 && !given.some(Boolean)) return undefined;
  const wanted = request.states.map((state) => wordOf(states, state)!);
  return {
    filter: {
      sessionId: request.sessionId || undefined,
      states: wanted.length === 0 ? ["pending"] : wanted,
      tool: tool || undefined,
      safetyLevel: wordOf(levels, request.safetyLevel),
      requestedBy: requestedBy || undefined,
      answeredBy: answeredBy || undefined,
      since: requestedSince && timestampDate(requestedSince),
      before: requestedBefore && timestampDate(requestedBefore),
    },
    size: pageSize || DEFAULT_PAGE,
    pageToken: pageToken || undefined,
  };
}
