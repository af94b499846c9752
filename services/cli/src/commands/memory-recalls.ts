import { createClient } from "@connectrpc/connect";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { messageJson } from "@hlvm/ndjson/message-json";
import { MemoryStatsService, RecallEntrySchema, RecallKind, RecallKindSchema, type RecallEntry } from "@hlvm/proto/hlvm/memory/v1/stats_pb";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { jsonLine } from "../output/json-line.ts";
import { localTime } from "../output/local-time.ts";
import { table } from "../output/table.ts";
import { printableLine } from "../terminal/printable.ts";

const QUERY_CHARACTERS = 80;

export interface MemoryRecallsFlags {
  readonly limit: number;
  readonly misses?: boolean;
  readonly kind?: string;
  readonly text?: string;
  readonly json?: boolean;
}

/** What was asked of memory in one's own name, latest first. */
export async function memoryRecalls(flags: MemoryRecallsFlags, context: CommandContext): Promise<number> {
  const { limit, misses = false, kind: word = "", text = "", json } = flags;
  const kind = RecallKind[word.toUpperCase() as keyof typeof RecallKind];
  const { recalls } = await withMesh(context, (transport) =>
    createClient(MemoryStatsService, transport).listRecalls({ limit, misses, kind, text }),
  );
  if (json === true) for (const recall of recalls) process.stdout.write(jsonLine(messageJson(RecallEntrySchema, recall)));
  else if (recalls.length === 0) context.screen.note(misses ? "Memory always had something to show." : "Memory was not asked that.");
  else process.stdout.write(table(["RECALL", "TIME", "ASKED BY", "SHOWN", "TOOK", "SESSION", "WORDS"], recalls.map(row)));
  return EXIT_OK;
}

function row({ recallId, at, kind, shownFactIds, milliseconds, sessionId, query }: RecallEntry): string[] {
  const took = `${Math.round(milliseconds)} ms`;
  const words = printableLine(query, QUERY_CHARACTERS);
  return [
    String(recallId),
    localTime(at),
    enumWord(RecallKindSchema, kind),
    String(shownFactIds.length),
    took,
    sessionId.slice(0, 8),
    words,
  ];
}
