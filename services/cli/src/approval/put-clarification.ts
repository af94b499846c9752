import type { Client } from "@connectrpc/connect";
import { ApprovalAnswer, type Approval, type PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { readLine } from "../terminal/read-line.ts";
import { printableLine } from "../terminal/printable.ts";
import type { Desk } from "./ask-person.ts";
import { questionLines } from "./question-lines.ts";
import { questionRows } from "./question-rows.ts";

/** What a person is told first, so that a model's words are not taken for a question about an action. */
export const CLARIFICATION_HEADING = "The model asks you something. Whatever you answer allows nothing.";

interface Clarification {
  readonly question: string;
  readonly choices: readonly string[];
}

/** What the model asked, of an approval that is a question. */
export function clarificationOf({ argumentsJson }: Approval): Clarification {
  const { question = "", choices = [] } = (argumentsJson === "" ? {} : JSON.parse(argumentsJson)) as Partial<Clarification>;
  return { question, choices };
}

/** The answer that a line stands for: a choice by its number, else the line itself. */
export function answerOf({ choices }: Clarification, line: string): string {
  const text = line.trim();
  return (/^[1-9]$/.test(text) ? choices[Number(text) - 1] : undefined) ?? text;
}

/**
 * Puts a model's question to the person at the terminal, and gives their answer.
 * @returns what is said to them; `closed` when the signal was aborted first
 */
export async function putClarification(
  policy: Client<typeof PolicyService>,
  approval: Approval,
  desk: Desk,
  signal: AbortSignal,
): Promise<string> {
  const clarification = clarificationOf(approval);
  if (signal.aborted) return "closed";
  const line = await put(approval, clarification, desk, signal);
  if (line === undefined) return "closed";
  const text = answerOf(clarification, line);
  const { approvalId, argumentsHash } = approval;
  const answer = text === "" ? ApprovalAnswer.DENY : ApprovalAnswer.ONCE;
  await policy.answerApproval({ approvalId, answer, argumentsHash, text });
  return text === "" ? "Not answered." : "Answered.";
}

async function put(
  approval: Approval,
  { choices }: Clarification,
  { screen, input }: Desk,
  signal: AbortSignal,
): Promise<string | undefined> {
  using question = screen.question();
  question.line([{ text: CLARIFICATION_HEADING, tone: "warning" }]);
  const rows = questionRows(questionLines(approval), { ...screen.size, colour: screen.colour });
  for (const { pieces } of rows) question.line(pieces);
  for (const [index, choice] of choices.entries())
    question.line([{ text: `  ${index + 1}: ${printableLine(choice, 200)}`, tone: "plain" }]);
  const how = choices.length > 0 ? "a number, or your own words" : "in your own words";
  question.line([{ text: `Your answer, ${how}; empty: none.`, tone: "warning" }]);
  return await readLine(input, question.draft(), signal);
}
