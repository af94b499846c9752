import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient, type CallOptions, type Client } from "@connectrpc/connect";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { readSigningKey } from "@hlvm/identity/signing-key";
import { TokenMinter } from "@hlvm/identity/token-minter";
import { FactScope, MemoryService } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { MemoryStatsService } from "@hlvm/proto/hlvm/memory/v1/stats_pb";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { testPrincipal } from "@hlvm/testing/test-identity";
import { startTestMesh, type TestMesh } from "../e2e/test-mesh.ts";
import { startEmbeddings, type Embeddings } from "./embeddings/start-embeddings.ts";
import { readLocomo, type MemorySet } from "./memory-sets.ts";
import { printTable } from "./print-table.ts";
import { quantile } from "./quantile.ts";
import { readLongMemEval } from "./read-longmemeval.ts";

const FOUND = 10;
const WRITTEN_AT_ONCE = 500;
const POLL_MILLISECONDS = 500;

interface Memory {
  readonly client: Client<typeof MemoryService>;
  readonly stats: Client<typeof MemoryStatsService>;
  readonly options: () => Promise<CallOptions>;
}
interface Times {
  readonly search: number[];
  readonly recall: number[];
}
interface Shares {
  readonly turns: number;
  readonly sessions: number;
}
/** What one question came to. */
interface Asked {
  readonly categories: readonly string[];
  /** Shares of what answers it, of turns and of their sessions; undefined where nothing in this memory does. */
  readonly search: Shares | undefined;
  readonly recall: Shares | undefined;
  /** 0 to 1: what recall's gate looks at. */
  readonly coverage: number;
}

/**
 * How many of the turns that answer a question are among the ten that a search finds and that a run is reminded of, by the service and
 * the stores as they run, by words alone and with a model of embeddings; how well recall's gate tells those questions from such as the
 * memory knows nothing of.
 */
export async function benchMemory(set: string | undefined, file: string | undefined): Promise<void> {
  const memories = set === "longmemeval" ? readLongMemEval(file) : readLocomo(file);
  if (memories === undefined) return console.log("\nMemory: left out, the set is not here (--set locomo|longmemeval FILE)");
  await measure(memories, "by words alone", undefined);
  const embeddings = await startEmbeddings();
  try {
    await measure(memories, `by meanings, too (${embeddings.model})`, embeddings);
  } finally {
    await embeddings.close();
  }
}

async function measure(memories: readonly MemorySet[], how: string, embeddings: Embeddings | undefined): Promise<void> {
  const mesh = await startTestMesh(
    embeddings === undefined ? {} : { HLVM_EMBEDDINGS_URL: embeddings.url, HLVM_EMBEDDINGS_MODEL: embeddings.model },
  );
  try {
    const memory = connect(mesh);
    const begun = performance.now();
    const turns = await writeTurns(memory, memories);
    const writes = turns.size / ((performance.now() - begun) / 1_000);
    if (embeddings !== undefined) await untilEmbedded(memory, memories.length);
    const times: Times = { search: [], recall: [] };
    const asked: Asked[] = [];
    for (const [number, { questions }] of memories.entries())
      for (const question of questions) asked.push(await ask(memory, number, question, turns, times));
    const foreign = await askForeign(memory, memories);
    printTable(
      `Memory ${how}: ${turns.size} turns, written at ${writes.toFixed(0)}/s; ${spread("search", times.search)}; ${spread("recall", times.recall)}`,
      [...new Set(asked.flatMap(({ categories }) => categories))].sort().map((category) => {
        const of = asked.filter(({ categories }) => categories.includes(category));
        return {
          category,
          questions: of.length,
          answerable: of.filter(({ search }) => search !== undefined).length,
          "search recall@10 %": percent(of.map(({ search }) => search?.turns)),
          "Recall@10 %": percent(of.map(({ recall }) => recall?.turns)),
          "search, sessions %": percent(of.map(({ search }) => search?.sessions)),
          "Recall, sessions %": percent(of.map(({ recall }) => recall?.sessions)),
        };
      }),
    );
    const own = asked.filter(({ search }) => search !== undefined).map(({ coverage }) => coverage);
    printTable(`Recall's gate, ${how}`, [
      {
        "questions of others": foreign.length,
        "fires for them %": percent(foreign.map(({ fires }) => (fires ? 1 : 0))),
        "area under the curve %": areaUnderCurve(
          own,
          foreign.map(({ coverage }) => coverage),
        ),
      },
    ]);
  } finally {
    await mesh.stop();
  }
}

function connect(mesh: TestMesh): Memory {
  const minter = new TokenMinter(readSigningKey(join(mesh.directory, "keys", "edge.jwk")));
  const port = mesh.state.services.find(({ name }) => name === "memory")!.port!;
  const transport = createMeshTransport(`http://127.0.0.1:${port}`);
  return {
    client: createClient(MemoryService, transport),
    stats: createClient(MemoryStatsService, transport),
    options: async () => ({ headers: { authorization: `Bearer ${minter.mint(testPrincipal, "memory")}` } }),
  };
}

async function untilEmbedded({ stats, options }: Memory, projects: number): Promise<void> {
  for (let number = 0; number < projects;) {
    const { embeddings } = await stats.getMemoryStats({ project: projectOf(number) }, await options());
    if (embeddings !== undefined && embeddings.made > 0 && embeddings.waiting === 0) number += 1;
    else await sleep(POLL_MILLISECONDS);
  }
}

/** @returns fact id → the turns that it was written from, and their session */
async function writeTurns({ client, options }: Memory, memories: readonly MemorySet[]): Promise<Map<string, string[]>> {
  const written = new Map<string, string[]>();
  for (const [number, { turns }] of memories.entries())
    for (let at = 0; at < turns.length; at += WRITTEN_AT_ONCE) {
      const batch = turns.slice(at, at + WRITTEN_AT_ONCE);
      const facts = batch.map(({ text, session, ordinal, actor, saidAt }) => ({
        text,
        actor,
        scope: FactScope.PROJECT,
        sourceSessionId: session,
        sourceOrdinal: ordinal,
        ...(saidAt === undefined ? {} : { saidAt: timestampFromDate(saidAt) }),
      }));
      const answer = await client.writeFacts({ facts, project: projectOf(number) }, await options());
      for (const [place, { factId }] of answer.facts.entries())
        written.set(factId, [...(written.get(factId) ?? []), batch[place]!.id, batch[place]!.session]);
    }
  return written;
}

async function ask(
  { client, options }: Memory,
  number: number,
  question: MemorySet["questions"][number],
  turns: ReadonlyMap<string, string[]>,
  times: Times,
): Promise<Asked> {
  const begun = performance.now();
  const { facts } = await client.searchFacts({ query: question.text, project: projectOf(number), limit: FOUND }, await options());
  const between = performance.now();
  const recalled = await client.recall({ query: question.text, project: projectOf(number) }, await options());
  times.search.push(between - begun);
  times.recall.push(performance.now() - between);
  const sharesOf = (ids: readonly string[]): Shares | undefined => {
    const held = new Set(ids.flatMap((id) => turns.get(id) ?? []));
    if (question.turns.length + question.sessions.length === 0) return undefined;
    return { turns: share(question.turns, held), sessions: share(question.sessions, held) };
  };
  return {
    categories: question.categories,
    search: sharesOf(facts.map(({ fact }) => fact!.factId)),
    recall: sharesOf(recalled.facts.map(({ factId }) => factId)),
    coverage: Math.max(0, ...facts.map(({ parts }) => parts?.coverage ?? 0)),
  };
}

/** Puts to each memory the questions of another one. */
async function askForeign({ client, options }: Memory, memories: readonly MemorySet[]): Promise<{ fires: boolean; coverage: number }[]> {
  const answers: { fires: boolean; coverage: number }[] = [];
  for (const number of memories.keys())
    for (const { text } of memories[(number + 3) % memories.length]!.questions) {
      const { facts } = await client.searchFacts({ query: text, project: projectOf(number), limit: FOUND }, await options());
      const coverage = Math.max(0, ...facts.map(({ parts }) => parts?.coverage ?? 0));
      answers.push({ coverage, fires: facts.some(({ parts }) => parts !== undefined && parts.coverage >= parts.gate) });
    }
  return answers;
}

/** How likely one of the first is above one of the second, in percent. */
function areaUnderCurve(first: readonly number[], second: readonly number[]): number {
  const above = first.reduce(
    (sum, one) => sum + second.reduce((count, other) => count + (one > other ? 1 : one === other ? 0.5 : 0), 0),
    0,
  );
  return (100 * above) / Math.max(1, first.length * second.length);
}

function share(wanted: readonly string[], found: ReadonlySet<string>): number {
  return wanted.filter((id) => found.has(id)).length / Math.max(1, wanted.length);
}

function spread(what: string, times: readonly number[]): string {
  return `${what} p50 ${quantile(times, 0.5).toFixed(1)} ms, p95 ${quantile(times, 0.95).toFixed(1)} ms`;
}

function percent(shares: readonly (number | undefined)[]): number {
  const known = shares.filter((one) => one !== undefined);
  return (100 * known.reduce((sum, one) => sum + one, 0)) / Math.max(1, known.length);
}

function projectOf(number: number): string {
  return `/memory-bench/${number}`;
}
