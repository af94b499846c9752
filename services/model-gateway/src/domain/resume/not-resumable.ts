import { HlvmError } from "@hlvm/errors/hlvm-error";

export const NOT_RESUMABLE = "resume_not_possible";

/** The rest of an answer cannot be had: whoever wants it asks the model again. */
export function notResumable(why: string): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: NOT_RESUMABLE,
    message: `The answer cannot be resumed: ${why}.`,
    advice: "Ask the model again.",
  });
}

/** Another gateway has the answer. */
export function elsewhere(replica: string): HlvmError {
  return new HlvmError({
    code: "unavailable",
    reason: "resume_elsewhere",
    message: `The answer is ${replica === "" ? "another gateway" : replica}'s.`,
    advice: "Ask the next gateway.",
  });
}
