import type { Client } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { ApprovalKind, type Approval, type PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { SafetyLevelSchema } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { printableLine } from "../terminal/printable.ts";
import type { Screen } from "../terminal/screen.ts";
import type { TerminalInput } from "../terminal/terminal-input.ts";
import { ACTION_CHOICE, putQuestion, type Key } from "./put-question.ts";
import { CLARIFICATION_HEADING } from "./put-clarification.ts";
import { PLAN_HEADING } from "./put-plan.ts";
import { questionLines } from "./question-lines.ts";
import { questionPages, type Page } from "./question-pages.ts";

/** Where a person is asked. */
export interface Desk {
  readonly screen: Screen;
  readonly input: TerminalInput;
  /** As EDITOR names it. */
  readonly editor: string;
}

/** What is asked, and by which worker of the run. */
export interface AskedApproval {
  readonly approval: Approval;
  readonly worker?: string;
}

const REASON_CHARACTERS = 500;

/** `shell_exec (L2) has to be approved: …`; neither the tool nor the reason draws lines of its own. */
export function headingOf({ tool, safetyLevel, reason, kind }: Approval): string {
  if (kind === ApprovalKind.PLAN) return PLAN_HEADING;
  if (kind === ApprovalKind.QUESTION) return CLARIFICATION_HEADING;
  const level = enumWord(SafetyLevelSchema, safetyLevel).toUpperCase();
  return `${printableLine(tool)} (${level}) has to be approved: ${printableLine(reason, REASON_CHARACTERS)}`;
}

/**
 * Puts an approval to the person at the terminal, whole.
 * @returns `closed` when the signal was aborted before they answered, and undefined when it was before they saw anything
 */
export async function askPerson({ approval, worker }: AskedApproval, desk: Desk, signal: AbortSignal): Promise<Key | "closed" | undefined> {
  const { screen, input } = desk;
  using question = screen.question();
  const pages = questionPages(`${worker === undefined ? "" : `worker ${worker} asks: `}${headingOf(approval)}`, questionLines(approval), {
    ...screen.size,
    colour: screen.colour,
  });
  let wasSeen = false;
  const shown = {
    page: (rows: Page): void => {
      wasSeen = true;
      for (const row of rows) question.line(row);
    },
    below: (text: string) => question.line([{ text, tone: "warning" }]),
  };
  const isTooLong = (approval.rendering?.omittedCharacters ?? 0) > 0;
  const key = await putQuestion({ pages, isTooLong, choice: ACTION_CHOICE }, shown, input, signal);
  return key ?? (wasSeen ? "closed" : undefined);
}

/**
 * The approval with a rendering and a preview that leave nothing out, as far as there are any, and with whether this person may
 * answer it. What comes with a run's events is bounded, and has no rendering where the arguments hold a secret: the log has a
 * mark there, and only policy has what will run.
 */
export async function wholeApproval(policy: Client<typeof PolicyService>, approval: Approval): Promise<Approval> {
  const { approval: whole } = await policy.getApproval({ approvalId: approval.approvalId });
  if (whole !== undefined) return whole;
  throw new HlvmError({
    code: "not_found",
    reason: "approval_not_found",
    message: `There is no approval ${approval.approvalId} any more.`,
    advice: "Nothing is left to do; ask again if it is still wanted.",
  });
}
