import { randomUUID } from "node:crypto";
import { chooseEmbeddingModel } from "@hlvm/service-memory/src/adapters/embedding-model.ts";
import { ItemEmbedder } from "@hlvm/service-memory/src/adapters/item-embedder.ts";
import { OpenAiEmbedder } from "@hlvm/service-memory/src/adapters/openai-embedder.ts";
import { startEmbeddings } from "./embeddings/start-embeddings.ts";
import { MeilisearchConnection } from "@hlvm/service-memory/src/adapters/meilisearch-connection.ts";
import { Circuit } from "@hlvm/service-memory/src/adapters/circuit.ts";
import { MeilisearchFactIndex } from "@hlvm/service-memory/src/adapters/meilisearch-fact-index.ts";
import { MeilisearchFactWriter } from "@hlvm/service-memory/src/adapters/meilisearch-fact-writer.ts";
import { OutboxIndexer } from "@hlvm/service-memory/src/adapters/outbox-indexer.ts";
import { PostgresFactStore } from "@hlvm/service-memory/src/adapters/postgres-fact-store.ts";
import type { Fact } from "@hlvm/service-memory/src/domain/fact.ts";
import { recall } from "@hlvm/service-memory/src/domain/recall.ts";
import { searchFacts, type SearchPorts } from "@hlvm/service-memory/src/domain/search-facts.ts";
import type { Viewer } from "@hlvm/service-memory/src/domain/viewer.ts";
import { writeFacts } from "@hlvm/service-memory/src/domain/write-facts.ts";
import { draftOf } from "@hlvm/service-memory/src/testing/draft-of.ts";
import { MeilisearchServer } from "@hlvm/testing/meilisearch-server";
import { testLog } from "@hlvm/testing/test-log";
import { Random } from "../chaos/random.ts";
import { createMemoryStore } from "./memory-service.ts";
import { printTable } from "./print-table.ts";

const AT_ONCE = 4;
const SEED = 2_026;
const WORDS = "deploy branch port staging database owner timeout release cluster linter editor budget".split(" ");
const ORGANIZATIONS = 4;
const PEOPLE = ["ada", "ben", "grace", "linus", "mia"];
const PROJECTS = ["", "/engine", "/shop", "/wiki"];
const FACTS_A_SCOPE = 12;

/** Whose a fact is, as it was written; found again by a word that no other scope has. */
interface Scope {
  readonly viewer: Viewer;
  readonly scope: "personal" | "team" | "project";
  readonly word: string;
}
interface Counts {
  pairs: number;
  shown: number;
  leaked: number;
  ownFound: number;
  ownAsked: number;
}

const WAITING = `SELECT FROM search_item LEFT JOIN item_embedding USING (item_id) LEFT JOIN outbox ON fact_id = item_id
  WHERE signs IS NULL OR outbox_id IS NOT NULL`;

/**
 * Random viewers put random questions, of common words and of words that only somebody else's facts have; whatever is shown is held
 * against who wrote it for whom. By PostgreSQL alone, with candidates of Meilisearch, and by what texts mean.
 */
export async function benchMemoryScopes(pairs: number): Promise<void> {
  const random = new Random(SEED);
  const store = await createMemoryStore();
  const meilisearch = await MeilisearchServer.start();
  const embeddings = await startEmbeddings();
  const embedder = new OpenAiEmbedder({ ...embeddings, key: "" });
  const connection = new MeilisearchConnection(meilisearch);
  const circuit = new Circuit();
  const indexer = new OutboxIndexer(store.database, new MeilisearchFactWriter(connection), circuit, testLog);
  const itemEmbedder = new ItemEmbedder(store.database, embedder, testLog);
  const facts = new PostgresFactStore(store.database, () => indexer.wake());
  try {
    const scopes = scopesOf();
    const owners = await write(facts, scopes, random);
    await chooseEmbeddingModel(store.database, embedder.model);
    indexer.start();
    itemEmbedder.start();
    while ((await store.database.query(`${WAITING} LIMIT 1`)).length > 0) await new Promise((resolve) => setTimeout(resolve, 200));
    await store.database.query("VACUUM ANALYZE");
    const index = (servesFrom: number) => new MeilisearchFactIndex(connection, circuit, testLog, () => undefined, servesFrom);
    const rows = [];
    const ways: readonly [how: string, ports: SearchPorts][] = [
      ["PostgreSQL alone", { store: facts, index: index(Number.POSITIVE_INFINITY) }],
      ["with candidates of Meilisearch", { store: facts, index: index(0) }],
      ["by what texts mean", { store: facts, index: index(Number.POSITIVE_INFINITY), embedder }],
    ];
    for (const [how, ports] of ways) rows.push({ how, ...(await ask(ports, scopes, owners, Math.ceil(pairs / ways.length), random)) });
    printTable(`Random scopes and questions: ${owners.size} facts of ${scopes.length} scopes, seed ${SEED} (limit: no leak)`, rows);
  } finally {
    await indexer.close();
    await itemEmbedder.close();
    await embeddings.close();
    await store.destroy();
    await meilisearch.destroy();
  }
}

function scopesOf(): Scope[] {
  const word = (): string => `only${randomUUID().slice(0, 8)}`;
  return Array.from({ length: ORGANIZATIONS }, (_, number) => `organization ${number}`).flatMap((organization) =>
    PEOPLE.flatMap((person) =>
      PROJECTS.flatMap((project): Scope[] => {
        const viewer = { organization, principal: `user:${person}`, project, mayWriteTeamFacts: true };
        if (project !== "") return [{ viewer, scope: "project", word: word() }];
        return (["personal", "team"] as const).map((scope) => ({ viewer, scope, word: word() }));
      }),
    ),
  );
}

async function write(store: PostgresFactStore, scopes: readonly Scope[], random: Random): Promise<Map<string, Scope>> {
  const owners = new Map<string, Scope>();
  for (const of of scopes) {
    const drafts = Array.from({ length: FACTS_A_SCOPE }, (_, at) =>
      draftOf(`${random.pick(WORDS)} ${random.pick(WORDS)} ${random.pick(WORDS)} ${of.word} ${at}`, {
        scope: of.scope,
        // The same names of sessions everywhere: what stands beside a fact is looked for by them.
        sourceSessionId: `session ${at % 3}`,
        sourceOrdinal: at,
        actor: random.pick(PEOPLE),
        pinned: at === 0 && random.next() < 0.3,
      }),
    );
    const written = await store.inScope(of.viewer, (facts) => writeFacts(facts, of.viewer, drafts));
    for (const fact of written) if ("factId" in fact) owners.set(fact.factId, of);
  }
  return owners;
}

async function ask(ports: SearchPorts, scopes: readonly Scope[], owners: ReadonlyMap<string, Scope>, pairs: number, random: Random) {
  const counts: Counts = { pairs: 0, shown: 0, leaked: 0, ownFound: 0, ownAsked: 0 };
  const signal = new AbortController().signal;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (counts.pairs < pairs) {
        counts.pairs += 1;
        const { viewer } = random.pick(scopes);
        const target = random.pick(scopes);
        const query = [...Array.from({ length: random.integer(0, 3) }, () => random.pick(WORDS)), target.word, random.pick(PEOPLE)].join(
          " ",
        );
        const shown =
          random.next() < 0.5
            ? (await recall(ports, viewer, query, signal)).facts
            : (await searchFacts(ports, viewer, { query, limit: 20 }, signal)).facts.map(({ fact }) => fact);
        judge(counts, viewer, target, shown, owners);
      }
    }),
  );
  const { ownFound, ownAsked, ...rest } = counts;
  return { ...rest, "own found, of those asked for %": (100 * ownFound) / Math.max(1, ownAsked) };
}

function judge(counts: Counts, viewer: Viewer, target: Scope, shown: readonly Fact[], owners: ReadonlyMap<string, Scope>): void {
  counts.shown += shown.length;
  counts.leaked += shown.filter(({ id, text }) => {
    const of = owners.get(id);
    return of === undefined || !maySee(viewer, of) || !text.includes(of.word);
  }).length;
  if (!maySee(viewer, target)) return;
  counts.ownAsked += 1;
  if (shown.some(({ text }) => text.includes(target.word))) counts.ownFound += 1;
}

function maySee(viewer: Viewer, { viewer: owner, scope }: Scope): boolean {
  if (viewer.organization !== owner.organization) return false;
  if (scope === "team") return true;
  return scope === "personal" ? viewer.principal === owner.principal : viewer.project === owner.project;
}
