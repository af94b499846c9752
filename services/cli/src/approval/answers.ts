import { ApprovalAnswer } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import type { Key } from "./put-question.ts";

/** What a key answers, and what is said to it. */
export const ANSWERS: Readonly<Record<Exclude<Key, "e">, { readonly answer: ApprovalAnswer; readonly said: string }>> = {
  y: { answer: ApprovalAnswer.ONCE, said: "Allowed, this once." },
  n: { answer: ApprovalAnswer.DENY, said: "Denied." },
  a: { answer: ApprovalAnswer.SESSION, said: "Allowed, for this session." },
};
