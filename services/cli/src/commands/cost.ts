import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { SpendingService, UsageDimension, type UsageRow } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import { csvLine } from "@hlvm/ndjson/csv-line";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { costText } from "../output/cost-text.ts";
import { jsonLine } from "../output/json-line.ts";
import { table } from "../output/table.ts";

export interface CostFlags {
  readonly by: readonly string[];
  readonly since?: Date;
  readonly until?: Date;
  readonly csv?: boolean;
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
  else if (flags.csv === true) process.stdout.write(csvOf(rows, by));
  else if (rows.length === 0) context.screen.note("No model call in that time. Prices come from the model gateway's table.");
  else
    process.stdout.write(
      table(
        [...by.map((word) => word.toUpperCase()), ...HEADINGS],
        rows.map((row) => line(row, by)),
      ),
    );
  if (flags.json !== true && flags.csv !== true && rows.length > 0 && !ofEverybody) context.screen.note("These are yours.", "dim");
  return EXIT_OK;
}

const COST = "cost_nano_dollars";
const HEADINGS = ["CALLS", "INPUT", "CACHE READ", "CACHE WRITE", "OUTPUT", "COST", "NOTE"];

function line(row: UsageRow, by: readonly string[]): string[] {
  const { calls, usage, estimatedCalls } = row;
  const counts = [usage?.inputTokens, usage?.cacheReadTokens, usage?.cacheWriteTokens, usage?.outputTokens];
  const unpriced = row.cost?.unpricedCalls ?? 0;
  const notes = [
    unpriced > 0 ? `${unpriced} without a known price` : "",
    estimatedCalls > 0n ? `${estimatedCalls} cut, estimated` : "",
  ].filter((note) => note !== "");
  const keys = by.map((word, index) => row.keys[index] || `(no ${word})`);
  return [...keys, String(calls), ...counts.map((count) => String(count ?? 0n)), costText(row.cost), notes.join(", ")];
}

/** With the names of the JSON's fields; what it cost in dollars, all of its digits. */
function csvOf(rows: readonly UsageRow[], by: readonly string[]): string {
  const fields = rows.map((row) =>
    Object.entries(json(row, by)).map(([name, value]) => (name === COST ? dollars(value as number) : value)),
  );
  const names = ["calls", "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens"];
  const head = [...by, ...names, "cost_dollars", "unpriced_calls", "estimated_calls"];
  return [head, ...fields.map((values) => values.map(String))].map(csvLine).join("");
}

function dollars(nanoDollars: number): string {
  return (nanoDollars / 1e9).toFixed(9);
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
    [COST]: Number(spent?.nanoDollars ?? 0n),
    unpriced_calls: spent?.unpricedCalls ?? 0,
    estimated_calls: Number(estimatedCalls),
  };
}
