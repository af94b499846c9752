import { createClient } from "@connectrpc/connect";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { permissionModeWord } from "@hlvm/ndjson/permission-mode";
import {
  AuditEventSchema,
  AuditKind,
  AuditService,
  OutcomeStatus,
  OutcomeStatusSchema,
  type AuditEvent,
} from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { DecidingStep, DecidingStepSchema, Decision, DecisionSchema } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { jsonLine } from "../output/json-line.ts";
import { localTime } from "../output/local-time.ts";
import { messageJson } from "../output/message-json.ts";
import { table } from "../output/table.ts";

const PENDING = "pending";

export interface AuditQueryFlags {
  readonly kind?: string;
  readonly tool?: string;
  readonly principal?: string;
  readonly decision?: string;
  readonly step?: string;
  readonly session?: string;
  readonly since?: Date;
  readonly until?: Date;
  readonly text?: string;
  readonly path?: string;
  readonly limit: number;
  readonly json?: boolean;
}

/** Tool calls that were asked for, each with what was decided and what came of it; or the events of a kind. */
export async function auditQuery(flags: AuditQueryFlags, context: CommandContext): Promise<number> {
  const { events, nextBeforeId } = await withMesh(context, (transport) =>
    createClient(AuditService, transport).query({
      tool: flags.tool,
      principal: flags.principal,
      sessionId: flags.session,
      decision: enumValue(Decision, flags.decision),
      step: enumValue(DecidingStep, flags.step),
      since: flags.since && timestampFromDate(flags.since),
      until: flags.until && timestampFromDate(flags.until),
      text: flags.text,
      path: flags.path,
      // What was asked has a decision of its own once it is answered.
      kind: enumValue(AuditKind, flags.kind) ?? (flags.decision === "ask" ? AuditKind.APPROVAL_REQUESTED : AuditKind.UNSPECIFIED),
      limit: flags.limit,
    }),
  );
  if (flags.json === true) for (const event of events) process.stdout.write(jsonLine(eventJson(event)));
  else if (events.length === 0) context.screen.note("Nothing in the audit log fits.");
  else process.stdout.write(table(["TIME", "WHO", "TOOL", "DECISION", "STEP", "RULE", "OUTCOME", "ARGUMENTS"], events.map(row)));
  if (nextBeforeId !== 0n) context.screen.note("There are more; narrow the question, or raise --limit.", "dim");
  return EXIT_OK;
}

function enumValue<T extends Readonly<Record<string, number>>>(values: T, word: string | undefined): T[keyof T] | undefined {
  return word === undefined ? undefined : values[word.toUpperCase() as keyof T];
}

export function eventJson(event: AuditEvent): object {
  const json = { ...messageJson(AuditEventSchema, event), mode: permissionModeWord(event.mode) };
  return isPending(event) ? { ...json, outcome: PENDING } : json;
}

/** An allowed call that runs, or of which nobody has told what came of it yet. */
function isPending({ kind, decision, outcome }: AuditEvent): boolean {
  return kind === AuditKind.INTENT && decision === Decision.ALLOW && outcome === OutcomeStatus.UNSPECIFIED;
}

export function outcomeWord(event: AuditEvent): string {
  if (isPending(event)) return PENDING;
  return event.outcome === OutcomeStatus.UNSPECIFIED ? "" : enumWord(OutcomeStatusSchema, event.outcome);
}

function row(event: AuditEvent): string[] {
  const { principal, tool, decision, step, rule, argumentsJson } = event;
  return [
    localTime(event.at),
    principal,
    tool,
    enumWord(DecisionSchema, decision),
    enumWord(DecidingStepSchema, step),
    rule,
    outcomeWord(event),
    argumentsJson,
  ];
}
