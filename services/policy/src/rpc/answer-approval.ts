import type { ServiceImpl } from "@connectrpc/connect";
import type { PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { callContext } from "@hlvm/rpc/call-context";
import type { ApprovalStore } from "../domain/approval/approval-store.ts";
import { answerApproval } from "../domain/approval/answer-approval.ts";
import { demandPerson } from "../domain/demand-person.ts";
import { encodeApproval } from "./encode-approval.ts";
import { answers, wordOf } from "./words.ts";

export function answerApprovalMethod(approvals: ApprovalStore): ServiceImpl<typeof PolicyService>["answerApproval"] {
  return async ({ approvalId, answer, argumentsHash }, context) => {
    const { principal, delegation, traceId } = callContext(context);
    demandPerson(delegation);
    // Where no answer was given the request was refused before; should it come here, it is a no.
    const word = wordOf(answers, answer) ?? "deny";
    return { approval: encodeApproval(await answerApproval(approvals, principal, traceId, { approvalId, answer: word, argumentsHash })) };
  };
}
