import { createClient } from "@connectrpc/connect";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { messageJson } from "@hlvm/ndjson/message-json";
import {
  PersonalDataService,
  RetentionSchema,
  RetentionScope,
  RetentionScopeSchema,
  type Retention,
} from "@hlvm/proto/hlvm/memory/v1/personal_data_pb";
import type { retentionScopeWords } from "@hlvm/proto/hlvm/memory/v1/personal_data_words";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { jsonLine } from "../output/json-line.ts";
import { localTime } from "../output/local-time.ts";
import { table } from "../output/table.ts";
import { printableLine } from "../terminal/printable.ts";

/** As a person names a scope. */
export type RetentionWord = (typeof retentionScopeWords)[number];

/** How long what has ended is kept. @param change undefined: only shown; 0 days: kept for good */
export async function memoryRetention(
  change: { readonly scope: RetentionWord; readonly days: number } | undefined,
  flags: { readonly json?: boolean },
  context: CommandContext,
): Promise<number> {
  const retention = await withMesh(context, async (transport) => {
    const client = createClient(PersonalDataService, transport);
    if (change === undefined) return (await client.listRetention({})).retention;
    const scope = RetentionScope[change.scope.toUpperCase() as Uppercase<RetentionWord>];
    return (await client.setRetention({ scope, days: change.days })).retention;
  });
  if (flags.json === true) for (const one of retention) process.stdout.write(jsonLine(messageJson(RetentionSchema, one)));
  else if (retention.length === 0) context.screen.note("What has ended is kept for good; what was asked of memory for 90 days.");
  else process.stdout.write(table(["SCOPE", "DAYS", "SET BY", "SET"], retention.map(rowOf)));
  return EXIT_OK;
}

function rowOf({ scope, days, changedBy, changedAt }: Retention): string[] {
  return [enumWord(RetentionScopeSchema, scope), String(days), printableLine(changedBy), localTime(changedAt)];
}
