import { createClient } from "@connectrpc/connect";
import { AuditService } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { auditQueryOf, type AuditFilterFlags } from "../audit/audit-filter.ts";
import { auditEventJson } from "@hlvm/ndjson/audit-event-json";
import { eventRow } from "../audit/event-view.ts";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { jsonLine } from "../output/json-line.ts";
import { table } from "../output/table.ts";

export interface AuditQueryFlags extends AuditFilterFlags {
  readonly limit: number;
  readonly json?: boolean;
}

/** Tool calls that were asked for, each with what was decided and what came of it; or the events of a kind. */
export async function auditQuery(flags: AuditQueryFlags, context: CommandContext): Promise<number> {
  const { events, nextBeforeId } = await withMesh(context, (transport) =>
    createClient(AuditService, transport).query({ ...auditQueryOf(flags), limit: flags.limit }),
  );
  if (flags.json === true) for (const event of events) process.stdout.write(jsonLine(auditEventJson(event)));
  else if (events.length === 0) context.screen.note("Nothing in the audit log fits.");
  else process.stdout.write(table(["TIME", "WHO", "TOOL", "DECISION", "STEP", "RULE", "OUTCOME", "ARGUMENTS"], events.map(eventRow)));
  if (nextBeforeId !== 0n)
    context.screen.note("There are more; narrow the question, raise --limit, or take them all with `hlvm audit export`.", "dim");
  return EXIT_OK;
}
