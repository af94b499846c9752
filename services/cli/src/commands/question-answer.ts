import { createClient } from "@connectrpc/connect";
import { ApprovalAnswer, ApprovalKind, PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { clarificationOf } from "../approval/put-clarification.ts";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { wrongUsage } from "../options/wrong-usage.ts";

/**
 * Answers a question of a model, with words or with one of its choices.
 * @throws HlvmError wrong usage, where it is none, or has no such choice
 */
export async function questionAnswer(
  approvalId: string,
  words: string | undefined,
  flags: { choice?: number },
  context: CommandContext,
): Promise<number> {
  if ((words === undefined) === (flags.choice === undefined))
    throw wrongUsage("Give the answer in words, or one of the choices.", 'Such as `hlvm question answer ID "SQLite"`, or --choice 1.');
  await withMesh(context, async (transport) => {
    const policy = createClient(PolicyService, transport);
    const { approval } = await policy.getApproval({ approvalId });
    if (approval?.kind !== ApprovalKind.QUESTION)
      throw wrongUsage("It is no question of a model.", "`hlvm approval list` tells of each what it is.");
    const { choices } = clarificationOf(approval);
    const text = words ?? choices[flags.choice! - 1];
    if (text === undefined) throw wrongUsage(`It has ${choices.length} choices.`, "`hlvm approval show ID` shows them.");
    await policy.answerApproval({ approvalId, answer: ApprovalAnswer.ONCE, argumentsHash: approval.argumentsHash, text });
  });
  context.screen.note("Answered.");
  return EXIT_OK;
}

/** Leaves it unanswered; the model is told so, with the words. */
export async function questionDecline(approvalId: string, words: string, context: CommandContext): Promise<number> {
  await withMesh(context, (transport) =>
    createClient(PolicyService, transport).answerApproval({ approvalId, answer: ApprovalAnswer.DENY, text: words }),
  );
  context.screen.note("Not answered.");
  return EXIT_OK;
}
