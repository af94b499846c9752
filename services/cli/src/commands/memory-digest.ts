import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { messageJson } from "@hlvm/ndjson/message-json";
import { FactChangeSchema, MemoryService, type FactChange } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { GetMemoryStatsResponseSchema, MemoryStatsService, type GetMemoryStatsResponse } from "@hlvm/proto/hlvm/memory/v1/stats_pb";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { CHANGE_HEADINGS, changeRow } from "../memory/fact-view.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { readWorkspace } from "../options/read-workspace.ts";
import { jsonLine } from "../output/json-line.ts";
import { localTime } from "../output/local-time.ts";
import { table } from "../output/table.ts";
import { counted } from "../terminal/sizes.ts";

const DAY_MILLISECONDS = 86_400_000;
const MAXIMUM_CHANGES = 100;

export interface MemoryDigestFlags {
  readonly since?: Date;
  readonly json?: boolean;
}

/** A day of memory: what was learnt and replaced, and whether it served. */
export async function memoryDigest({ since, json }: MemoryDigestFlags, context: CommandContext): Promise<number> {
  const from = since ?? new Date(Date.now() - DAY_MILLISECONDS);
  const project = readWorkspace(".");
  const [stats, { changes, nextPageToken }] = await withMesh(context, (transport) =>
    Promise.all([
      createClient(MemoryStatsService, transport).getMemoryStats({ since: timestampFromDate(from), project }),
      createClient(MemoryService, transport).listFactChanges({
        filter: { project, since: timestampFromDate(from) },
        limit: MAXIMUM_CHANGES,
      }),
    ]),
  );
  if (json === true) {
    const digest = {
      stats: messageJson(GetMemoryStatsResponseSchema, stats),
      changes: changes.map((change) => messageJson(FactChangeSchema, change)),
    };
    process.stdout.write(jsonLine(digest));
    return EXIT_OK;
  }
  process.stdout.write(textOf(stats, changes));
  if (nextPageToken !== "")
    context.screen.note(`There were more than ${MAXIMUM_CHANGES} changes: \`hlvm memory changes\` has them all.`, "dim");
  return EXIT_OK;
}

function textOf(stats: GetMemoryStatsResponse, changes: readonly FactChange[]): string {
  const asked = stats.recalls.reduce((sum, { count }) => sum + count, 0);
  const hits = stats.recalls.reduce((sum, { hits: one }) => sum + one, 0);
  return [
    `Since ${localTime(stats.since)}\n\n`,
    `Memory was asked ${counted(asked, "time")} and had something ${counted(hits, "time")}.\n`,
    `Of ${counted(stats.answers, "answer")}, ${stats.answersWithUse} used what they were shown; ${stats.answersWithRederivation} found out again what was known.\n\n`,
    changes.length === 0 ? "No fact changed.\n" : table(CHANGE_HEADINGS, changes.map(changeRow)),
  ].join("");
}
