import { createClient, type Client } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { ApprovalKind, ApprovalState, ApprovalStateSchema, PolicyService, type Approval } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { answerSeveral } from "../approval/answer-several.ts";
import { ANSWERS } from "../approval/answers.ts";
import { askPerson } from "../approval/ask-person.ts";
import { EXIT_FAILED, EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { wrongUsage } from "../options/wrong-usage.ts";
import { Interrupts } from "../terminal/interrupts.ts";
import { TerminalInput } from "../terminal/terminal-input.ts";

/** An approval, and the hash of what somebody was shown of it. */
export interface SeenApproval {
  readonly approvalId: string;
  readonly argumentsHash?: string;
}

export interface ApprovalYesFlags {
  readonly argumentsHash?: string;
  readonly reason?: string;
  readonly json?: boolean;
}

/**
 * Allows what waits, to somebody who has seen it: on a terminal it is shown first, and elsewhere the hash of what was shown
 * has to be given.
 * @throws HlvmError wrong usage, where nobody can have seen it
 */
export async function approvalYes(seen: readonly SeenApproval[], flags: ApprovalYesFlags, context: CommandContext): Promise<number> {
  const [{ approvalId, argumentsHash = flags.argumentsHash }, ...others] = seen as [SeenApproval, ...SeenApproval[]];
  if (others.length > 0 || flags.json === true) return allowSeveral(seen, flags, context);
  const canShow = process.stdin.isTTY && process.stderr.isTTY;
  if (argumentsHash === undefined && !canShow)
    throw wrongUsage(
      "There is no terminal to show it on, so that nobody would have seen what they allow.",
      "Look at it with `hlvm approval show ID --json`, and give its arguments_hash as --arguments-hash.",
    );
  return await withMesh(context, async (transport) => {
    const policy = createClient(PolicyService, transport);
    if (argumentsHash === undefined) return await showAndAnswer(policy, { approvalId, reason: flags.reason }, context);
    const { approval } = await policy.getApproval({ approvalId });
    if (approval !== undefined) requireAction(approval);
    const { answer, said } = ANSWERS.y;
    await policy.answerApproval({ approvalId, answer, argumentsHash, reason: flags.reason });
    context.screen.note(said);
    return EXIT_OK;
  });
}

async function allowSeveral(seen: readonly SeenApproval[], flags: ApprovalYesFlags, context: CommandContext): Promise<number> {
  const unseen = seen.find(({ argumentsHash }) => argumentsHash === undefined);
  if (unseen !== undefined || flags.argumentsHash !== undefined)
    throw wrongUsage(
      "Several are allowed together by what was shown of each.",
      "Give each as ID=HASH; `hlvm approval list --json` has the arguments_hash.",
    );
  const { answer, said } = ANSWERS.y;
  return withMesh(context, (transport) => answerSeveral(transport, { ...flags, approvals: seen, answer, said }, context));
}

async function showAndAnswer(
  policy: Client<typeof PolicyService>,
  { approvalId, reason }: { approvalId: string; reason?: string },
  { screen }: CommandContext,
): Promise<number> {
  const { approval } = await policy.getApproval({ approvalId });
  if (approval?.state !== ApprovalState.PENDING) throw notPending(approvalId, enumWord(ApprovalStateSchema, approval?.state ?? 0));
  requireAction(approval);
  if (approval.notAnswerable !== "") screen.note(approval.notAnswerable, "warning");
  using interrupts = new Interrupts();
  using input = new TerminalInput(process.stdin, { write: screen.control, onControlC: () => interrupts.interrupt(130) });
  const key = await askPerson({ approval }, { screen, input, editor: "" }, interrupts.signal);
  if (key === undefined || key === "closed") return interrupts.exitCode ?? EXIT_FAILED;
  const { answer, said } = ANSWERS[key as keyof typeof ANSWERS];
  const { argumentsHash, preview } = approval;
  await policy.answerApproval({ approvalId, answer, argumentsHash, previewHash: preview?.hash, reason });
  screen.note(said);
  return EXIT_OK;
}

/** @throws HlvmError wrong usage, where it is a plan or a question */
function requireAction({ kind, approvalId, sessionId }: Approval): void {
  if (kind === ApprovalKind.PLAN) throw wrongUsage("It is a plan, and is accepted with a mode.", `\`hlvm plan accept ${sessionId}\`.`);
  if (kind === ApprovalKind.QUESTION)
    throw wrongUsage("It is a question, and is answered with words.", `\`hlvm question answer ${approvalId} "…"\`.`);
}

function notPending(approvalId: string, state: string): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "approval_not_pending",
    message: `The approval ${approvalId} no longer waits for an answer: it is ${state}.`,
    advice: "`hlvm approval list` shows what waits.",
  });
}
