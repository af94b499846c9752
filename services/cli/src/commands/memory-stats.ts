import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { messageJson } from "@hlvm/ndjson/message-json";
import { FactOriginSchema } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import {
  GetMemoryStatsResponseSchema,
  MemoryStatsService,
  RecallKindSchema,
  type EmbeddingCounts,
  type GetMemoryStatsResponse,
} from "@hlvm/proto/hlvm/memory/v1/stats_pb";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { readWorkspace } from "../options/read-workspace.ts";
import { jsonLine } from "../output/json-line.ts";
import { localTime } from "../output/local-time.ts";
import { table } from "../output/table.ts";

export interface MemoryStatsFlags {
  readonly since?: Date;
  readonly until?: Date;
  readonly json?: boolean;
}

/** Whether memory helps: what was asked of it in one's own name, what it showed, and what answers made of that. */
export async function memoryStats({ since, until, json }: MemoryStatsFlags, context: CommandContext): Promise<number> {
  const stats = await withMesh(context, (transport) =>
    createClient(MemoryStatsService, transport).getMemoryStats({
      since: since && timestampFromDate(since),
      until: until && timestampFromDate(until),
      project: readWorkspace("."),
    }),
  );
  process.stdout.write(json === true ? jsonLine(messageJson(GetMemoryStatsResponseSchema, stats)) : textOf(stats));
  return EXIT_OK;
}

function textOf(stats: GetMemoryStatsResponse): string {
  const recalls = stats.recalls.map(({ kind, count, hits, factsShown, factsMarkedWrong, p50Milliseconds, p95Milliseconds }) => [
    enumWord(RecallKindSchema, kind),
    String(count),
    share(hits, count),
    String(factsShown),
    String(factsMarkedWrong),
    `${Math.round(p50Milliseconds)} ms`,
    `${Math.round(p95Milliseconds)} ms`,
  ]);
  const origins = stats.factsByOrigin.map(({ origin, count }) => `${count} ${enumWord(FactOriginSchema, origin)}`).join(", ");
  const ages = stats.factsByAge.map(({ days, count }) => `${count} ${days === 0 ? "older" : `up to ${days} d`}`).join(", ");
  const used = stats.mostUsed.map(({ fact, shown, used: times }) => [String(times), String(shown), fact?.factId ?? "", fact?.text ?? ""]);
  return [
    `From ${localTime(stats.since)} to ${localTime(stats.until)}; what you and your runs asked.\n\n`,
    recalls.length === 0
      ? "Memory was not asked.\n"
      : table(["ASKED BY", "TIMES", "HITS", "FACTS SHOWN", "MARKED WRONG", "P50", "P95"], recalls),
    `\nUseful hits       ${share(stats.answersWithUse, stats.answersWithFacts)} of ${stats.answersWithFacts} answers that were shown facts hold one of them\n`,
    `Found out again   ${share(stats.answersWithRederivation, stats.answers)} of ${stats.answers} answers hold a fact that nothing had shown them\n`,
    `Facts             ${origins === "" ? "none" : origins}\n`,
    `Age               ${ages}\n`,
    `Never shown       ${stats.factsNeverShown}\n`,
    meaningsOf(stats.embeddings),
    used.length === 0 ? "" : `\n${table(["USED", "SHOWN", "FACT", "TEXT"], used)}`,
  ].join("");
}

function meaningsOf(counts: EmbeddingCounts | undefined): string {
  if (counts === undefined) return "";
  const { model, made, waiting, refused } = counts;
  return `Meanings          ${made} texts have their vector by ${model}, ${waiting} wait${refused === 0 ? "" : `, ${refused} were refused`}\n`;
}

function share(part: number, whole: number): string {
  return whole === 0 ? "-" : `${Math.round((100 * part) / whole)} %`;
}
