import { createClient } from "@connectrpc/connect";
import { messageJson } from "@hlvm/ndjson/message-json";
import { FactSchema, MemoryService, type Fact } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { factFilterOf, type FactFilterFlags } from "../memory/fact-filter.ts";
import { FACT_HEADINGS, factRow } from "../memory/fact-view.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { jsonLine } from "../output/json-line.ts";
import { table } from "../output/table.ts";

const PAGE_SIZE = 100;

export interface MemoryListFlags extends FactFilterFlags {
  readonly ended?: boolean;
  readonly limit: number;
  readonly json?: boolean;
}

/** Facts, the one that was written last first. */
export async function memoryList(flags: MemoryListFlags, context: CommandContext): Promise<number> {
  const filter = factFilterOf(flags);
  const facts: Fact[] = [];
  let pageToken = "";
  await withMesh(context, async (transport) => {
    const memory = createClient(MemoryService, transport);
    do {
      const limit = Math.min(flags.limit - facts.length, PAGE_SIZE);
      const page = await memory.listFacts({ filter, withEnded: flags.ended, limit, pageToken });
      facts.push(...page.facts);
      pageToken = page.nextPageToken;
    } while (pageToken !== "" && facts.length < flags.limit);
  });
  if (flags.json === true) for (const fact of facts) process.stdout.write(jsonLine(messageJson(FactSchema, fact)));
  else if (facts.length === 0) context.screen.note("No fact fits.");
  else process.stdout.write(table(FACT_HEADINGS, facts.map(factRow)));
  if (pageToken !== "") context.screen.note(`These are the latest ${facts.length}; --limit shows more.`, "dim");
  return EXIT_OK;
}
