import { createClient } from "@connectrpc/connect";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { AuditService, type ApprovedCall } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { DecidingStepSchema } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { auditEventJson } from "@hlvm/ndjson/audit-event-json";
import { outcomeWord } from "../audit/event-view.ts";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { jsonLine } from "../output/json-line.ts";
import { localTime } from "../output/local-time.ts";
import { table } from "../output/table.ts";

export interface WhoApprovedFlags {
  readonly session?: string;
  readonly call?: string;
  readonly tool?: string;
  readonly principal?: string;
  readonly approver?: string;
  readonly path?: string;
  readonly text?: string;
  readonly since?: Date;
  readonly until?: Date;
  readonly limit: number;
  readonly json?: boolean;
}

/** Calls that were let through, each with the person who answered, or with what let it through where nobody was asked. */
export async function auditWhoApproved(flags: WhoApprovedFlags, context: CommandContext): Promise<number> {
  const { session, call, since, until, json, ...given } = flags;
  const { calls, nextBeforeId } = await withMesh(context, (transport) =>
    createClient(AuditService, transport).whoApproved({
      ...given,
      sessionId: session,
      callId: call,
      since: since && timestampFromDate(since),
      until: until && timestampFromDate(until),
    }),
  );
  if (json === true) for (const one of calls) process.stdout.write(jsonLine(approvedJson(one)));
  else if (calls.length === 0) context.screen.note("Nothing that was let through fits.");
  else process.stdout.write(table(["TIME", "WHO", "TOOL", "LET THROUGH BY", "OUTCOME", "ARGUMENTS"], calls.map(row)));
  if (nextBeforeId !== 0n) context.screen.note("There are more; narrow the question, or raise --limit.", "dim");
  return EXIT_OK;
}

function approvedJson({ call, answer }: ApprovedCall): object {
  return { call: auditEventJson(call!), ...(answer === undefined ? {} : { answer: auditEventJson(answer) }) };
}

function row({ call, answer }: ApprovedCall): string[] {
  const { at, principal, tool, argumentsJson } = call!;
  return [localTime(at), principal, tool, grounds({ call, answer }), outcomeWord(call!), argumentsJson];
}

function grounds({ call, answer }: Pick<ApprovedCall, "call" | "answer">): string {
  if (answer !== undefined) return `${answer.principal}, ${answer.rule.replace("answer: ", "")}, ${localTime(answer.at)}`;
  return `${enumWord(DecidingStepSchema, call!.step)}: ${call!.rule}`;
}
