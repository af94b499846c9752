import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { SpendingService, UsageDimension, type UsageRow } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { costText } from "../output/cost-text.ts";
import { jsonLine } from "../output/json-line.ts";
import { table } from "../output/table.ts";

export interface CostFlags {
  readonly by: readonly string[];
  readonly since?: Date;
  readonly until?: Date;
  readonly json?: boolean;
}

/** What model calls used and cost: one's own, or everybody's for who may see that. */
export async function cost(flags: CostFlags, context: CommandContext): Promise<number> {
  const { by, since, until } = flags;
  const { rows, ofEverybody } = await withMesh(context, (transport) =>
    createClient(SpendingService, transport).queryUsage({
      by: by.map((word) => UsageDimension[word.toUpperCase() as keyof typeof UsageDimension]),
      since: since && timestampFromDate(since),
      until: until && timestampFromDate(until),
    }),
  );
  if (flags.json === true) for (const row of rows) process.stdout.write(jsonLine(json(row, by)));
  else if (rows.length === 0) context.screen.note("No model call in that time. Prices come from the model gateway's table.");
  else process.stdout.write(table([...by.map((word) => word.toUpperCase()), ...HEADINGS], rows.map(line)));
  if (flags.json !== true && rows.length > 0 && !ofEverybody) context.screen.note("These are yours.", "dim");
  return EXIT_OK;
}

const HEADINGS = ["CALLS", "INPUT", "CACHE READ", "CACHE WRITE", "OUTPUT", "COST", "NOTE"];

function line(row: UsageRow): string[] {
  const { keys, calls, usage, estimatedCalls } = row;
  const counts = [usage?.inputTokens, usage?.cacheReadTokens, usage?.cacheWriteTokens, usage?.outputTokens];
  const unpriced = row.cost?.unpricedCalls ?? 0;
  const notes = [
    unpriced > 0 ? `${unpriced} without a known price` : "",
    estimatedCalls > 0n ? `${estimatedCalls} cut, estimated` : "",
  ].filter((note) => note !== "");
  return [...keys, String(calls), ...counts.map((count) => String(count ?? 0n)), costText(row.cost), notes.join(", ")];
}

function json({ keys, calls, usage, cost: spent, estimatedCalls }: UsageRow, by: readonly string[]): object {
  return {
    ...Object.fromEntries(by.map((word, index) => [word, keys[index] ?? ""])),
    calls: Number(calls),
    input_tokens: Number(usage?.inputTokens ?? 0n),
    output_tokens: Number(usage?.outputTokens ?? 0n),
    cache_read_tokens: Number(usage?.cacheReadTokens ?? 0n),
    cache_write_tokens: Number(usage?.cacheWriteTokens ?? 0n),
    reasoning_tokens: Number(usage?.reasoningTokens ?? 0n),
    cost_nano_dollars: Number(spent?.nanoDollars ?? 0n),
    unpriced_calls: spent?.unpricedCalls ?? 0,
    estimated_calls: Number(estimatedCalls),
  };
}
