import { createClient } from "@connectrpc/connect";
import { AUDIT_CSV_HEAD, auditCsvRecord, auditEventJson } from "@hlvm/ndjson/audit-event-json";
import { AuditService } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { auditQueryOf, type AuditFilterFlags } from "../audit/audit-filter.ts";
import type { CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { jsonLine } from "../output/json-line.ts";
import { writeOutput } from "../output/write-output.ts";
import { untilInterrupted } from "../terminal/until-interrupted.ts";

const PAGE = 1_000;

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
        if (flags.format === "csv") await writeOutput(AUDIT_CSV_HEAD, signal);
        for (let beforeId = 0n; ;) {
          const { events, nextBeforeId } = await audit.query({ ...auditQueryOf(flags), limit: PAGE, beforeId }, { signal });
          for (const event of events)
            await writeOutput(flags.format === "csv" ? auditCsvRecord(event) : jsonLine(auditEventJson(event)), signal);
          if (nextBeforeId === 0n) return;
          beforeId = nextBeforeId;
        }
      },
      signal,
    ),
  );
}
