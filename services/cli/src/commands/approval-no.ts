import { createClient } from "@connectrpc/connect";
import { PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { answerSeveral } from "../approval/answer-several.ts";
import { ANSWERS } from "../approval/answers.ts";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";

export interface ApprovalNoFlags {
  readonly reason?: string;
  readonly json?: boolean;
}

/** Denies what waits; for that nobody has to have seen it. */
export function approvalNo(approvalIds: readonly string[], flags: ApprovalNoFlags, context: CommandContext): Promise<number> {
  const { answer, said } = ANSWERS.n;
  return withMesh(context, async (transport) => {
    const [approvalId, ...others] = approvalIds;
    if (others.length > 0 || flags.json === true)
      return answerSeveral(transport, { ...flags, approvals: approvalIds.map((id) => ({ approvalId: id })), answer, said }, context);
    await createClient(PolicyService, transport).answerApproval({ approvalId, answer, reason: flags.reason });
    context.screen.note(said);
    return EXIT_OK;
  });
}
