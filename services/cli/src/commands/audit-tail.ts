import { createClient } from "@connectrpc/connect";
import { AuditService, type AuditEvent } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { auditQueryOf, type AuditFilterFlags } from "../audit/audit-filter.ts";
import { auditEventJson } from "@hlvm/ndjson/audit-event-json";
import { storyRow } from "../audit/event-view.ts";
import type { CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { jsonLine } from "../output/json-line.ts";
import { writeOutput } from "../output/write-output.ts";
import { Reconnection } from "../run/reconnection.ts";
import { printableLine } from "../terminal/printable.ts";
import { untilInterrupted } from "../terminal/until-interrupted.ts";

const RECONNECT_MILLISECONDS = 60_000;
const ARGUMENTS_LENGTH = 160;

export interface AuditTailFlags extends AuditFilterFlags {
  readonly json?: boolean;
}

/** Shows events as they are recorded, until somebody stops it; a connection that breaks or ends goes on behind the last one seen. */
export function auditTail(flags: AuditTailFlags, context: CommandContext): Promise<number> {
  return untilInterrupted((signal) =>
    withMesh(
      context,
      async (transport) => {
        const audit = createClient(AuditService, transport);
        const onLost = (): void => context.screen.note("The connection was lost; it is being resumed.", "dim");
        using reconnection = new Reconnection({ signal, onLost, reconnectMilliseconds: RECONNECT_MILLISECONDS });
        let afterId = 0n;
        for (;;) {
          try {
            for await (const { events } of audit.tail({ query: auditQueryOf(flags), afterId }, { signal, timeoutMs: 0 })) {
              reconnection.contact();
              for (const event of events) await writeOutput(flags.json === true ? jsonLine(auditEventJson(event)) : line(event), signal);
              afterId = events.reduce((last, { id }) => (id > last ? id : last), afterId);
            }
          } catch (thrown) {
            await reconnection.waitAfter(thrown);
          }
        }
      },
      signal,
    ),
  );
}

function line(event: AuditEvent): string {
  return `${storyRow(event)
    .map((cell) => printableLine(cell, ARGUMENTS_LENGTH))
    .filter((cell) => cell !== "")
    .join("  ")}\n`;
}
