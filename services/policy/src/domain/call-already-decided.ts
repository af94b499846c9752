import { HlvmError } from "@hlvm/errors/hlvm-error";

type Why = "another_call" | "has_outcome" | "renewed_too_often";

const WORDS: Readonly<Record<Why, { readonly what: (callId: string) => string; readonly advice: string }>> = {
  another_call: {
    what: (callId) => `Another call ${callId} of this session was decided before: of another run, person or tool, or with other arguments.`,
    advice: "Give every call an id of its own.",
  },
  has_outcome: {
    what: (callId) => `The call ${callId} was decided before, and what came of it is on record.`,
    advice: "Nothing is left to run: take its result from the session's log or the executor's receipt, or make a new call.",
  },
  renewed_too_often: {
    what: (callId) => `The grant of the call ${callId} was given again as often as it may be.`,
    advice: "Ask the executor for the call's receipt; where it never ran, make a new call with an id of its own.",
  },
};

/** Why a call that was decided before gets no grant. */
export function callAlreadyDecided(callId: string, why: Why): HlvmError {
  const { what, advice } = WORDS[why];
  return new HlvmError({ code: "already_exists", reason: "call_already_decided", message: what(callId), advice });
}
