import { createClient, type Transport } from "@connectrpc/connect";
import {
  AnswerApprovalsResponse_OneSchema,
  PolicyService,
  type ApprovalAnswer,
  type AnswerApprovalsResponse_One,
} from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { EXIT_FAILED, EXIT_OK, type CommandContext } from "../command.ts";
import { jsonLine } from "../output/json-line.ts";
import { messageJson } from "@hlvm/ndjson/message-json";
import { printableLine } from "../terminal/printable.ts";

export interface SeveralAnswers {
  readonly approvals: readonly { readonly approvalId: string; readonly argumentsHash?: string }[];
  readonly answer: ApprovalAnswer;
  readonly reason?: string;
  readonly said: string;
  readonly json?: boolean;
}

/** Gives several approvals one answer, and says of each what came of it. @returns 1 where one of them did not take it */
export async function answerSeveral(
  transport: Transport,
  { approvals, answer, reason, said, json }: SeveralAnswers,
  { screen }: CommandContext,
): Promise<number> {
  const { answered } = await createClient(PolicyService, transport).answerApprovals({ approvals: [...approvals], answer, reason });
  for (const one of answered)
    if (json === true) process.stdout.write(jsonLine(messageJson(AnswerApprovalsResponse_OneSchema, one)));
    else if (isTaken(one)) screen.note(`${one.approvalId}: ${said}`);
    else screen.note(`${one.approvalId}: ${printableLine(one.refusedMessage)}`, "bad");
  return answered.every(isTaken) ? EXIT_OK : EXIT_FAILED;
}

function isTaken({ approval }: AnswerApprovalsResponse_One): boolean {
  return approval !== undefined;
}
