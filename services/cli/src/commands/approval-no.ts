import { createClient } from "@connectrpc/connect";
import { PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { ANSWERS } from "../approval/answers.ts";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";

/** Denies what waits; for that nobody has to have seen it. */
export async function approvalNo(approvalId: string, context: CommandContext): Promise<number> {
  const { answer, said } = ANSWERS.n;
  await withMesh(context, (transport) => createClient(PolicyService, transport).answerApproval({ approvalId, answer }));
  context.screen.note(said);
  return EXIT_OK;
}
