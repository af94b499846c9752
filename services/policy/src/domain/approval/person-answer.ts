import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { PermissionMode } from "../decide/decision.ts";
import type { Approval, ApprovalAnswer } from "./approval.ts";

/** UTF-8 bytes. */
const MAXIMUM_BYTES = { question: 16_384, plan: 65_536, reason: 4_000 } as const;
// oxlint-disable-next-line no-control-regex -- these are what is looked for
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/u;

/** What a person said beyond yes and no. */
export interface PersonAnswer {
  readonly text: string;
  /** Of a plan that is accepted: the mode in which the run goes on, and what the edge signed for it. */
  readonly mode?: PermissionMode;
  readonly delegation: string;
}

/**
 * Whether an answer fits what was asked: a yes to an action has no text, an answer to a question has one and nothing else, and
 * a plan is accepted by who started the run, as a text that a model can be given, with what the edge signed for them.
 * @throws HlvmError `answer_unfit`, `plan_of_another`
 */
export function checkAnswer({ kind, requestedBy }: Approval, answeredBy: string, answer: ApprovalAnswer, said: PersonAnswer): void {
  if (kind === "action") {
    if (said.text !== "" || said.mode !== undefined)
      throw unfit("An action is allowed or denied as it is.", "Leave the text and the mode out.");
    return;
  }
  if (answer === "session") throw unfit(`A ${kind} is answered once.`, "Answer this one.");
  checkText(kind, said.text);
  if (answer === "deny") return;
  if (said.text.trim() === "")
    throw unfit(`The ${kind === "plan" ? "plan" : "answer"} is empty.`, kind === "plan" ? "Reject it instead." : "Say something.");
  if (kind === "question") {
    if (said.mode !== undefined) throw unfit("An answer to a question changes no mode.", "Leave the mode out.");
    return;
  }
  if (answeredBy !== requestedBy)
    throw new HlvmError({
      code: "permission_denied",
      reason: "plan_of_another",
      message: `The plan is of a run of ${requestedBy}, who alone can let it go on in another mode.`,
      advice: "They accept it, or you reject it.",
    });
  if (said.mode === undefined || said.mode === "plan")
    throw unfit("A plan is accepted with the mode in which the run goes on.", "Choose default or acceptEdits.");
  if (said.delegation === "") throw unfit("Nobody signed for the mode in which the run goes on.", "Accept the plan through the edge.");
}

/**
 * Why an action is answered so: a model may be given it. What is said to a question or a plan says that itself.
 * @throws HlvmError `answer_unfit`
 */
export function checkReason(kind: Approval["kind"], reason: string): void {
  if (reason === "") return;
  if (kind !== "action") throw unfit(`A ${kind} is answered with a text, and that says why.`, "Leave the reason out.");
  checkText("reason", reason);
}

function checkText(kind: keyof typeof MAXIMUM_BYTES, text: string): void {
  const limit = MAXIMUM_BYTES[kind];
  const bytes = Buffer.byteLength(text);
  if (bytes > limit) throw unfit(`The text has ${bytes} bytes, and ${limit} is the most.`, "Make it shorter.");
  const found = CONTROL.exec(text);
  if (found !== null || !text.isWellFormed())
    throw unfit(
      found === null ? "The text is no well-formed Unicode." : `The text has a control character at position ${found.index}.`,
      "Give plain text: Markdown, UTF-8.",
    );
}

function unfit(message: string, advice: string): HlvmError {
  return new HlvmError({ code: "invalid_argument", reason: "answer_unfit", message, advice });
}
