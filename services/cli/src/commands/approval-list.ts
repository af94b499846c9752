import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { enumWord } from "@hlvm/ndjson/enum-word";
import {
  ApprovalKind,
  ApprovalSchema,
  ApprovalState,
  ApprovalStateSchema,
  PolicyService,
  type Approval,
} from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { SafetyLevel, SafetyLevelSchema } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { jsonLine } from "../output/json-line.ts";
import { localTime } from "../output/local-time.ts";
import { messageJson } from "@hlvm/ndjson/message-json";
import { table } from "../output/table.ts";

const KINDS: Readonly<Record<number, string>> = { [ApprovalKind.PLAN]: "plan", [ApprovalKind.QUESTION]: "question" };
const HEADINGS = ["APPROVAL", "ASKED", "STATE", "BY", "WHO", "KIND", "TOOL", "LEVEL", "ARGUMENTS"];

export interface ApprovalListFlags {
  readonly state?: readonly string[];
  readonly session?: string;
  readonly tool?: string;
  readonly level?: string;
  readonly requestedBy?: string;
  readonly answeredBy?: string;
  readonly since?: Date;
  readonly before?: Date;
  readonly limit?: number;
  readonly json?: boolean;
}

/** What waits for an answer that this person may give, or what was answered. */
export async function approvalList(flags: ApprovalListFlags, context: CommandContext): Promise<number> {
  const { approvals, nextPageToken } = await withMesh(context, (transport) =>
    createClient(PolicyService, transport).listApprovals({
      sessionId: flags.session,
      states: flags.state?.map((word) => ApprovalState[word.toUpperCase() as keyof typeof ApprovalState]),
      tool: flags.tool,
      safetyLevel: flags.level === undefined ? undefined : SafetyLevel[flags.level as keyof typeof SafetyLevel],
      requestedBy: flags.requestedBy,
      answeredBy: flags.answeredBy,
      requestedSince: flags.since && timestampFromDate(flags.since),
      requestedBefore: flags.before && timestampFromDate(flags.before),
      pageSize: flags.limit,
    }),
  );
  const isOfAnswers = flags.state?.some((state) => state !== "pending") === true;
  if (flags.json === true) for (const approval of approvals) process.stdout.write(jsonLine(messageJson(ApprovalSchema, approval)));
  else if (approvals.length === 0) context.screen.note(isOfAnswers ? "No approval fits." : "Nothing waits for an answer of yours.");
  else
    process.stdout.write(
      isOfAnswers ? table(HEADINGS, approvals.map(row)) : table(withoutState(HEADINGS), approvals.map(row).map(withoutState)),
    );
  if (nextPageToken !== "") context.screen.note("There are more; narrow the list, or raise --limit.", "dim");
  return EXIT_OK;
}

function row(approval: Approval): string[] {
  return [
    approval.approvalId,
    localTime(approval.requestedAt),
    enumWord(ApprovalStateSchema, approval.state),
    approval.answeredBy,
    approval.requestedBy,
    KINDS[approval.kind] ?? "action",
    approval.tool,
    enumWord(SafetyLevelSchema, approval.safetyLevel).toUpperCase(),
    approval.argumentsJson,
  ];
}

/** Of what waits the state is known, and nobody has answered. */
function withoutState(cells: readonly string[]): string[] {
  return cells.toSpliced(2, 2);
}
