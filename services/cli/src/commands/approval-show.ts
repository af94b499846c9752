import { createClient } from "@connectrpc/connect";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { ApprovalSchema, ApprovalStateSchema, PolicyService, type Approval } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { headingOf } from "../approval/ask-person.ts";
import { questionLines } from "../approval/question-lines.ts";
import { questionRows } from "../approval/question-rows.ts";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { jsonLine } from "../output/json-line.ts";
import { localTime } from "../output/local-time.ts";
import { messageJson } from "@hlvm/ndjson/message-json";
import { paint } from "../terminal/paint.ts";

/** All of an approval, in whatever state it is. */
export async function approvalShow(approvalId: string, flags: { json?: boolean }, context: CommandContext): Promise<number> {
  const { approval } = await withMesh(context, (transport) => createClient(PolicyService, transport).getApproval({ approvalId }));
  if (approval === undefined) return EXIT_OK;
  if (flags.json === true) process.stdout.write(jsonLine(messageJson(ApprovalSchema, approval)));
  else process.stdout.write(`${facts(approval)}\n${shown(approval, context)}`);
  return EXIT_OK;
}

function facts(approval: Approval): string {
  const state = enumWord(ApprovalStateSchema, approval.state);
  const until = state === "pending" ? ` · until ${localTime(approval.expiresAt)}` : "";
  const by = approval.answeredBy === "" ? "" : ` · by ${approval.answeredBy}`;
  return `${headingOf(approval)}
asked by ${approval.requestedBy} · ${localTime(approval.requestedAt)} · session ${approval.sessionId}
${state}${until}${by} · arguments ${approval.argumentsHash}
${approval.notAnswerable === "" ? "" : `${approval.notAnswerable}\n`}`;
}

function shown(approval: Approval, { config }: CommandContext): string {
  if (approval.argumentsJson === "") return "What it was about is no longer kept here; `hlvm audit query` has it.\n";
  const colour = process.stdout.isTTY && config.noColor === "";
  const columns = process.stdout.isTTY ? process.stdout.columns || 80 : Infinity;
  const rows = questionRows(questionLines(approval), { columns, colour });
  return rows.map(({ pieces }) => `${paint(pieces, colour)}\n`).join("");
}
