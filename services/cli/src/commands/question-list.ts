import { createClient } from "@connectrpc/connect";
import { ApprovalKind, ApprovalSchema, PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { clarificationOf } from "../approval/put-clarification.ts";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { jsonLine } from "../output/json-line.ts";
import { localTime } from "../output/local-time.ts";
import { messageJson } from "@hlvm/ndjson/message-json";
import { table } from "../output/table.ts";

/** What models ask this person, of all that waits for an answer of theirs. */
export async function questionList(flags: { json?: boolean }, context: CommandContext): Promise<number> {
  const { approvals } = await withMesh(context, (transport) => createClient(PolicyService, transport).listApprovals({}));
  const questions = approvals.filter(({ kind }) => kind === ApprovalKind.QUESTION);
  if (flags.json === true) for (const question of questions) process.stdout.write(jsonLine(messageJson(ApprovalSchema, question)));
  else if (questions.length === 0) context.screen.note("No model asks you anything.");
  else {
    const rows = questions.map((approval) => {
      const { question, choices } = clarificationOf(approval);
      const numbered = choices.map((choice, index) => `${index + 1}: ${choice}`).join(" · ");
      return [approval.approvalId, localTime(approval.requestedAt), question, numbered];
    });
    process.stdout.write(table(["APPROVAL", "ASKED", "QUESTION", "CHOICES"], rows));
  }
  return EXIT_OK;
}
