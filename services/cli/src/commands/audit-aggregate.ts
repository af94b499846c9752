import { createClient } from "@connectrpc/connect";
import { enumWord } from "@hlvm/ndjson/enum-word";
import {
  AggregateResponseSchema,
  AuditField,
  AuditFieldSchema,
  AuditService,
  type AggregateResponse,
  type AggregateResponse_Bucket,
} from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { auditQueryOf, type AuditFilterFlags } from "../audit/audit-filter.ts";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { jsonLine } from "../output/json-line.ts";
import { localTime } from "../output/local-time.ts";
import { messageJson } from "@hlvm/ndjson/message-json";
import { table } from "../output/table.ts";

const BAR_LENGTH = 40;

export interface AuditAggregateFlags extends AuditFilterFlags {
  readonly by: readonly string[];
  readonly top: number;
  readonly buckets: number;
  readonly json?: boolean;
}

/** How many events there are, by their fields and over time. */
export async function auditAggregate(flags: AuditAggregateFlags, context: CommandContext): Promise<number> {
  const by = flags.by.map((word) => AuditField[word.toUpperCase() as keyof typeof AuditField]);
  const counted = await withMesh(context, (transport) =>
    createClient(AuditService, transport).aggregate({ query: auditQueryOf(flags), by, top: flags.top, buckets: flags.buckets }),
  );
  if (flags.json === true) process.stdout.write(jsonLine(messageJson(AggregateResponseSchema, counted)));
  else if (counted.events === 0n) context.screen.note("Nothing in the audit log fits.");
  else process.stdout.write([fieldTable(counted), spanTable(counted.buckets)].filter((part) => part !== "").join("\n"));
  return EXIT_OK;
}

function fieldTable({ events, facets }: AggregateResponse): string {
  const rows = facets.flatMap(({ field, counts, otherEvents }) => {
    const name = enumWord(AuditFieldSchema, field);
    const values = counts.map(({ value, events: number }) => [name, value === "" ? "(none)" : value, number] as const);
    return otherEvents === 0n ? values : [...values, [name, "(others)", otherEvents] as const];
  });
  const cells = rows.map(([field, value, number]) => [field, value, String(number), bar(number, events)]);
  return table(["FIELD", "VALUE", "EVENTS", ""], [...cells, ["all", "", String(events), ""]]);
}

function spanTable(buckets: readonly AggregateResponse_Bucket[]): string {
  if (buckets.length === 0) return "";
  const most = buckets.reduce((greatest, { events }) => (events > greatest ? events : greatest), 0n);
  const cells = buckets.map(({ start, events, allowed, asked, denied }) => [
    localTime(start),
    ...[events, allowed, asked, denied].map(String),
    bar(events, most),
  ]);
  return table(["FROM", "EVENTS", "ALLOWED", "ASKED", "DENIED", ""], cells);
}

/** As long as its share; what there is at all can be seen. */
function bar(number: bigint, of: bigint): string {
  return number === 0n ? "" : "▇".repeat(Math.max(1, Math.round((Number(number) / Number(of)) * BAR_LENGTH)));
}
