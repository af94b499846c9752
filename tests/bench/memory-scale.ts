import { SearchSource } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { testPrincipal } from "@hlvm/testing/test-identity";
import { MeilisearchServer } from "@hlvm/testing/meilisearch-server";
import type { FactScope } from "@hlvm/service-memory/src/domain/fact.ts";
import { ownProjectId } from "@hlvm/service-memory/src/domain/project-identity.ts";
import { Random } from "../chaos/random.ts";
import { inventedFact, loadInventedFacts, questionAbout } from "./invented-facts.ts";
import { createMemoryStore, type MemoryStore, type RunningMemory } from "./memory-service.ts";
import { printTable } from "./print-table.ts";
import { quantile } from "./quantile.ts";
import { benchMemoryWrites } from "./memory-writes.ts";

const QUESTIONS = 300;
const PROJECT = "/memory-scale";
const POLL_MILLISECONDS = 1_000;
/** Half of the facts everybody's, two fifths of the project, the rest the person's own. */
const SHARES: readonly FactScope[] = ["team", "project", "team", "project", "team", "project", "team", "project", "team", "personal"];

/** Recall and writes where one person sees very many facts, by the service as it runs, with its index and without. */
export async function benchMemoryScale(facts: number): Promise<void> {
  const store = await createMemoryStore();
  const meilisearch = await MeilisearchServer.start();
  try {
    const rows: Awaited<ReturnType<typeof timed>>[] = [];
    const { organization, id: principal } = testPrincipal;
    const owner = { organization, principal, project: ownProjectId(organization, principal, PROJECT) };
    const scopeOf = (number: number): FactScope => SHARES[number % SHARES.length]!;
    rows.push(await timed("put into their table", facts, () => loadInventedFacts(store.database, facts, { ...owner, scopeOf })));

    let memory: RunningMemory | undefined;
    rows.push(await timed("cut into terms, by the service's start", facts, async () => (memory = await store.start())));
    await store.database.query("VACUUM ANALYZE");
    const without = await measureRecall("without Meilisearch", memory!, facts);
    await memory!.stop();

    memory = await store.start(meilisearch);
    rows.push(await timed("carried into the index", facts, () => untilIndexed(store, facts)));
    await store.database.query("VACUUM ANALYZE");
    const withIndex = await measureRecall("with Meilisearch", memory, facts);
    printTable(`Memory at scale: ${facts} facts that one person sees`, rows);
    printTable(`Recall among ${facts} facts, ${QUESTIONS} questions one after the other (limits of the p95: 500 and 60 ms)`, [
      without,
      withIndex,
    ]);
    await benchMemoryWrites(memory, store.database);
    await memory.stop();
  } finally {
    await store.destroy();
    await meilisearch.destroy();
  }
}

async function timed(what: string, facts: number, work: () => Promise<unknown>) {
  const begun = performance.now();
  await work();
  const seconds = (performance.now() - begun) / 1_000;
  console.error(`${what}: ${seconds.toFixed(0)} s`);
  return { what, s: seconds.toFixed(0), "facts/s": (facts / seconds).toFixed(0) };
}

/** Nothing waits, and as much went in as there is. */
async function untilIndexed({ database }: MemoryStore, facts: number): Promise<void> {
  for (let isBegun = false; ;) {
    const [row] = await database.query<{ waiting: string }>("SELECT count(*) AS waiting FROM outbox");
    const waiting = Number(row!.waiting);
    isBegun ||= waiting > facts / 2;
    if (isBegun && waiting === 0) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MILLISECONDS));
  }
}

async function measureRecall(what: string, { client, options }: RunningMemory, facts: number) {
  const random = new Random(7);
  const times: number[] = [];
  let [found, indexed] = [0, 0];
  for (let question = -20; question < QUESTIONS; question += 1) {
    const asked = inventedFact(random.integer(0, facts - 1));
    const query = questionAbout(asked, random);
    const begun = performance.now();
    const answer = await client.recall({ query, project: PROJECT }, options());
    // The first ones find statements that are not planned yet.
    if (question < 0) continue;
    times.push(performance.now() - begun);
    if (answer.facts.some(({ factId }) => factId === asked.id)) found += 1;
    if (answer.source === SearchSource.INDEX) indexed += 1;
  }
  return {
    recall: what,
    "p50 ms": quantile(times, 0.5),
    "p95 ms": quantile(times, 0.95),
    "worst ms": Math.max(...times),
    "found %": (100 * found) / QUESTIONS,
    "asked the index": indexed,
  };
}
