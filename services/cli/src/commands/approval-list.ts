import { createClient } from "@connectrpc/connect";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { ApprovalKind, ApprovalSchema, PolicyService, type Approval } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { SafetyLevelSchema } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { jsonLine } from "../output/json-line.ts";
import { localTime } from "../output/local-time.ts";
import { messageJson } from "../output/message-json.ts";
import { table } from "../output/table.ts";

const KINDS: Readonly<Record<number, string>> = { [ApprovalKind.PLAN]: "plan", [ApprovalKind.QUESTION]: "question" };

/** What waits for an answer that this person may give. */
export async function approvalList(flags: { json?: boolean }, context: CommandContext): Promise<number> {
  const { approvals } = await withMesh(context, (transport) => createClient(PolicyService, transport).listApprovals({}));
  if (flags.json === true) for (const approval of approvals) process.stdout.write(jsonLine(messageJson(ApprovalSchema, approval)));
  else if (approvals.length === 0) context.screen.note("Nothing waits for an answer of yours.");
  else process.stdout.write(table(["APPROVAL", "ASKED", "WHO", "KIND", "TOOL", "LEVEL", "ARGUMENTS"], approvals.map(row)));
  return EXIT_OK;
}

function row(approval: Approval): string[] {
  const level = enumWord(SafetyLevelSchema, approval.safetyLevel).toUpperCase();
  return [
    approval.approvalId,
    localTime(approval.requestedAt),
    approval.requestedBy,
    KINDS[approval.kind] ?? "action",
    approval.tool,
    level,
    approval.argumentsJson,
  ];
}
