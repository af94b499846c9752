import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { ApprovalState } from "./approval.ts";

/** Also for an approval of another organization: whoever asks learns nothing of it. */
export function approvalNotFound(approvalId: string): HlvmError {
  return new HlvmError({
    code: "not_found",
    reason: "approval_not_found",
    message: `There is no approval ${approvalId}.`,
    advice: "List what waits for an answer, and take an id from there.",
  });
}

export function approvalNotPending(approvalId: string, state: ApprovalState): HlvmError {
  if (state === "withdrawn")
    return new HlvmError({
      code: "failed_precondition",
      reason: "approval_withdrawn",
      message: `The approval ${approvalId} no longer waits for an answer: the run that asked for it has ended.`,
      advice: "Nothing is left to do; ask again in the session if the call is still wanted.",
    });
  return new HlvmError({
    code: "failed_precondition",
    reason: "approval_not_pending",
    message: `The approval ${approvalId} no longer waits for an answer: it is ${state}.`,
    advice: "Nothing is left to do; ask the agent to try again if the call is still wanted.",
  });
}

export function approvalUsed(approvalId: string): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "approval_used",
    message: `The answer to the approval ${approvalId} was taken before, and the arguments that it was about are not kept any more.`,
    advice: "Have policy decide on the very same call again, with its arguments.",
  });
}

export function argumentsDiffer(approvalId: string): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "arguments_differ",
    message: `What would run with the approval ${approvalId} is not what was shown when it was answered.`,
    advice: "Look at it again, and answer with the hash of what it shows then.",
  });
}

export function previewDiffers(approvalId: string): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "preview_differs",
    message: `What the approval ${approvalId} would change is not what was shown when it was answered.`,
    advice: "Look at it again, and answer with the hash of the preview that it shows then.",
  });
}
