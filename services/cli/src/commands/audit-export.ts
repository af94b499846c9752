import { timestampDate } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { AuditService, type AuditEvent } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { auditQueryOf, type AuditFilterFlags } from "../audit/audit-filter.ts";
import { eventJson } from "../audit/event-view.ts";
import type { CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { csvLine } from "../output/csv-line.ts";
import { jsonLine } from "../output/json-line.ts";
import { writeOutput } from "../output/write-output.ts";
import { untilInterrupted } from "../terminal/until-interrupted.ts";

const PAGE = 1_000;
const COLUMNS = `id at kind principal session_id run_id call_id tool decision step rule reason mode safety_level trust_tier outcome
  outcome_summary duration_milliseconds approval_id trace_id arguments_hash arguments_json query`.split(/\s+/);

export interface AuditExportFlags extends AuditFilterFlags {
  readonly format: "ndjson" | "csv";
}

/** Everything that fits, newest first, however much it is: a page is written before the next one is read. */
export function auditExport(flags: AuditExportFlags, context: CommandContext): Promise<number> {
  return untilInterrupted((signal) =>
    withMesh(
      context,
      async (transport) => {
        const audit = createClient(AuditService, transport);
        if (flags.format === "csv") await writeOutput(csvLine(COLUMNS), signal);
        for (let beforeId = 0n; ;) {
          const { events, nextBeforeId } = await audit.query({ ...auditQueryOf(flags), limit: PAGE, beforeId }, { signal });
          for (const event of events) await writeOutput(flags.format === "csv" ? record(event) : jsonLine(eventJson(event)), signal);
          if (nextBeforeId === 0n) return;
          beforeId = nextBeforeId;
        }
      },
      signal,
    ),
  );
}

function record(event: AuditEvent): string {
  const values = eventJson(event) as Readonly<Record<string, string | number>>;
  const at = event.at === undefined ? "" : timestampDate(event.at).toISOString();
  return csvLine(COLUMNS.map((column) => (column === "at" ? at : told(values[column]))));
}

function told(value: string | number | undefined): string {
  return value === undefined || value === "unspecified" ? "" : String(value);
}
