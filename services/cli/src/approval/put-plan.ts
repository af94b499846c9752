import type { Client } from "@connectrpc/connect";
import { fromConnectError } from "@hlvm/connect-errors/from-connect-error";
import { ApprovalAnswer, PermissionMode, type Approval, type PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { editText } from "../terminal/edit-text.ts";
import { readLine } from "../terminal/read-line.ts";
import type { Desk } from "./ask-person.ts";
import { putQuestion } from "./put-question.ts";
import { textLines } from "./question-lines.ts";
import { questionPages, type Page } from "./question-pages.ts";

export const PLAN_HEADING = "The model proposes a plan: nothing is changed before you accept it.";
const PROMPT = "Accept? y (asked before each change) / a (edits accepted) / e (edit it) / n (reject)";

const MODES: Readonly<Record<string, { readonly mode: PermissionMode; readonly said: string }>> = {
  y: { mode: PermissionMode.DEFAULT, said: "Accepted; the run goes on in the mode default." },
  a: { mode: PermissionMode.ACCEPT_EDITS, said: "Accepted; the run goes on in the mode acceptEdits." },
};

/** The plan as the model proposed it. */
export function planOf({ argumentsJson }: Approval): string {
  return argumentsJson === "" ? "" : ((JSON.parse(argumentsJson) as { plan?: string }).plan ?? "");
}

/**
 * Puts a plan to the person at the terminal, whole, who accepts it, changes it first, or rejects it with words.
 * @returns what is said to them; `closed` when the signal was aborted first
 */
export async function putPlan(policy: Client<typeof PolicyService>, approval: Approval, desk: Desk, signal: AbortSignal): Promise<string> {
  const { approvalId, argumentsHash } = approval;
  let text = planOf(approval);
  for (;;) {
    using question = desk.screen.question();
    const key = await ask(text, question, desk, signal);
    if (key === undefined) return "closed";
    try {
      if (key === "e") text = await edited(text, desk);
      else if (key === "n") {
        const prompt = { text: "Why, or what do you want instead? Empty: no words.", tone: "warning" } as const;
        question.line([prompt]);
        const why = await readLine(desk.input, question.draft(), signal);
        if (why === undefined) return "closed";
        await policy.answerApproval({ approvalId, answer: ApprovalAnswer.DENY, argumentsHash, text: why.trim() });
        return "Rejected.";
      } else {
        const { mode, said } = MODES[key]!;
        await policy.answerApproval({ approvalId, answer: ApprovalAnswer.ONCE, argumentsHash, text, mode });
        return said;
      }
    } catch (thrown) {
      const error = fromConnectError(thrown);
      if (!["plan_unfit", "answer_unfit", "editor_failed"].includes(error.reason)) throw error;
      question.line([{ text: `${error.message} ${error.advice}`, tone: "bad" }]);
    }
  }
}

async function edited(text: string, { input, editor }: Desk): Promise<string> {
  using _ = input.suspend();
  return await editText(text, editor);
}

function ask(
  text: string,
  question: ReturnType<Desk["screen"]["question"]>,
  { screen, input }: Desk,
  signal: AbortSignal,
): Promise<string | undefined> {
  const pages = questionPages(PLAN_HEADING, textLines(text), { ...screen.size, colour: screen.colour });
  const shown = {
    page: (rows: Page): void => {
      for (const row of rows) question.line(row);
    },
    below: (line: string) => question.line([{ text: line, tone: "warning" }]),
  };
  const choice = { yes: [...Object.keys(MODES), "e"], prompt: PROMPT };
  return putQuestion({ pages, isTooLong: false, choice }, shown, input, signal);
}
