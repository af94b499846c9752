import { FactScope } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import type { Database } from "@hlvm/postgres/database";
import { inventedFact } from "./invented-facts.ts";
import type { RunningMemory } from "./memory-service.ts";
import { printTable } from "./print-table.ts";
import { quantile } from "./quantile.ts";

/** Numbers of facts that nothing else has. */
const FIRST = 100_000_000;
const PEOPLE = 8;

/** Facts written by RPC, by several people at once, each into their own scope; read back from the database. */
export async function benchMemoryWrites(memory: RunningMemory, database: Database): Promise<void> {
  const rows = [];
  for (const [what, atOnce, batches, people] of [
    ["WriteFacts, 500 a call", 500, 24, 4],
    ["WriteFacts, 50 a call", 50, 200, 4],
    ["WriteFact", 1, 6_000, PEOPLE],
  ] as const)
    rows.push(await write(memory, database, { what, atOnce, batches, people, first: FIRST * (rows.length + 1) }));
  printTable(`Facts written by RPC, ${PEOPLE} people at most (limit 1,000/s)`, rows);
}

interface Load {
  readonly what: string;
  readonly atOnce: number;
  readonly batches: number;
  readonly people: number;
  readonly first: number;
}

async function write({ client, options }: RunningMemory, database: Database, { what, atOnce, batches, people, first }: Load) {
  const [before] = await database.query<{ facts: string }>("SELECT count(*) AS facts FROM search_item");
  const times: number[] = [];
  let next = 0;
  const begun = performance.now();
  await Promise.all(
    Array.from({ length: people }, async (_, person) => {
      for (let batch = next++; batch < batches; batch = next++) {
        const call = performance.now();
        const texts = Array.from({ length: atOnce }, (_, at) => inventedFact(first + batch * atOnce + at).text);
        const facts = texts.map((text) => ({ text, scope: FactScope.PERSONAL }));
        const as = options(`user:writer${person}`);
        if (atOnce === 1) await client.writeFact(facts[0]!, as);
        else await client.writeFacts({ facts }, as);
        times.push(performance.now() - call);
      }
    }),
  );
  const seconds = (performance.now() - begun) / 1_000;
  const [after] = await database.query<{ facts: string }>("SELECT count(*) AS facts FROM search_item");
  const written = Number(after!.facts) - Number(before!.facts);
  return {
    what,
    people,
    written,
    "facts/s": (written / seconds).toFixed(0),
    "p50 ms": quantile(times, 0.5),
    "p95 ms": quantile(times, 0.95),
  };
}
