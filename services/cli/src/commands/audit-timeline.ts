import { createClient } from "@connectrpc/connect";
import { AuditService, type AuditEvent } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { auditEventJson } from "@hlvm/ndjson/audit-event-json";
import { STORY_HEADINGS, storyRow } from "../audit/event-view.ts";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { jsonLine } from "../output/json-line.ts";
import { table } from "../output/table.ts";
import { writeOutput } from "../output/write-output.ts";

const PAGE = 500;

/** All that is on record about one session, oldest first: what was asked, who answered, what came of it. */
export async function auditTimeline(sessionId: string, flags: { limit: number; json?: boolean }, context: CommandContext): Promise<number> {
  const { events, hasMore } = await withMesh(context, async (transport) => {
    const audit = createClient(AuditService, transport);
    const found: AuditEvent[] = [];
    for (let afterId = 0n; ;) {
      const page = await audit.sessionTimeline({ sessionId, afterId, limit: Math.min(PAGE, flags.limit - found.length) });
      found.push(...page.events);
      afterId = page.nextAfterId;
      if (afterId === 0n || found.length >= flags.limit) return { events: found, hasMore: afterId !== 0n };
    }
  });
  if (flags.json === true) for (const event of events) await writeOutput(jsonLine(auditEventJson(event)));
  else if (events.length === 0) context.screen.note("Nothing is on record about this session.");
  else await writeOutput(table([...STORY_HEADINGS], events.map(storyRow)));
  if (hasMore) context.screen.note("There are more; raise --limit.", "dim");
  return EXIT_OK;
}
