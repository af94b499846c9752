import { createClient } from "@connectrpc/connect";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { messageJson } from "@hlvm/ndjson/message-json";
import type { Fact } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import {
  GetRecallResponseSchema,
  MemoryStatsService,
  RecallEntrySchema,
  RecallKindSchema,
  type RecallEntry,
} from "@hlvm/proto/hlvm/memory/v1/stats_pb";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { jsonLine } from "../output/json-line.ts";
import { localTime } from "../output/local-time.ts";
import { table } from "../output/table.ts";
import { printableLine } from "../terminal/printable.ts";

/** What a recall showed, and what became of that. */
export async function memoryRecallShow(recallId: bigint, { json }: { readonly json?: boolean }, context: CommandContext): Promise<number> {
  const found = await withMesh(context, (transport) => createClient(MemoryStatsService, transport).getRecall({ recallId }));
  const recall = found.recall!;
  if (json === true) process.stdout.write(jsonLine(messageJson(GetRecallResponseSchema, found)));
  else {
    const { at, kind, query, shownFactIds } = recall;
    process.stdout.write(`${localTime(at)}, ${enumWord(RecallKindSchema, kind)}: ${printableLine(query)}\n\n`);
    const facts = new Map(found.facts.map((fact) => [fact.factId, fact]));
    if (shownFactIds.length === 0) context.screen.note("It showed nothing.");
    else
      process.stdout.write(
        table(
          ["", "USED", "FACT", "TEXT"],
          shownFactIds.map((id) => row(recall, id, facts.get(id))),
        ),
      );
  }
  return EXIT_OK;
}

/** Says that a fact did not belong where a recall showed it, or takes that back. */
export async function memoryRecallMark(
  mark: { readonly recallId: bigint; readonly factId: string; readonly wrong: boolean },
  { json }: { readonly json?: boolean },
  context: CommandContext,
): Promise<number> {
  const { recall } = await withMesh(context, (transport) => createClient(MemoryStatsService, transport).markRecall(mark));
  if (json === true) process.stdout.write(jsonLine(messageJson(RecallEntrySchema, recall!)));
  else context.screen.note(mark.wrong ? "Marked as wrong. The fact itself stays: `hlvm memory end` ends it." : "The mark is gone.");
  return EXIT_OK;
}

function row({ hasAnswer, usedFactIds, wrongFactIds }: RecallEntry, id: string, fact: Fact | undefined): string[] {
  const used = !hasAnswer ? "?" : usedFactIds.includes(id) ? "yes" : "no";
  return [wrongFactIds.includes(id) ? "wrong" : "", used, id, fact === undefined ? "(gone)" : printableLine(fact.text)];
}
