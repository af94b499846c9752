import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createClient, type CallOptions, type Client } from "@connectrpc/connect";
import { readSigningKey } from "@hlvm/identity/signing-key";
import { TokenMinter } from "@hlvm/identity/token-minter";
import { FactScope, MemoryService, SearchSource } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { testPrincipal } from "@hlvm/testing/test-identity";
import { repositoryRoot, startTestMesh, type TestMesh } from "../e2e/test-mesh.ts";
import { printTable } from "./print-table.ts";
import { quantile } from "./quantile.ts";

/** LoCoMo is not free to copy: it is read where a developer keeps it, beside the repository. */
const LOCOMO = join(repositoryRoot, "..", "shared", "data", "locomo", "locomo10.json");
const ADVERSARIAL = 5;
const FOUND = 10;
const CATCH_UP_MILLISECONDS = 30_000;

interface Turn {
  readonly speaker: string;
  readonly dia_id: string;
  readonly text: string;
  readonly blip_caption?: string;
}
interface Conversation {
  readonly conversation: Readonly<Record<string, unknown>>;
  readonly qa: readonly { readonly question: string; readonly category: number; readonly evidence?: readonly string[] }[];
}
interface Memory {
  readonly client: Client<typeof MemoryService>;
  readonly options: () => Promise<CallOptions>;
}

/** How many of the turns that answer a question are among the first ten found, and how long that takes. */
export async function benchMemoryRecall(): Promise<void> {
  if (!existsSync(LOCOMO)) return console.log(`\nRecall of memory: left out, there is no ${LOCOMO}`);
  const conversations = JSON.parse(readFileSync(LOCOMO, "utf8")) as Conversation[];
  const mesh = await startTestMesh();
  try {
    const memory = await connect(mesh);
    const begun = performance.now();
    const turns = await writeTurns(memory, conversations);
    const write = (performance.now() - begun) / turns.size;
    await indexed(memory);
    const rows = [await ask(memory, conversations, turns, "index")];
    const meilisearch = mesh.state.services.find(({ name }) => name === "Meilisearch")!.pid!;
    process.kill(meilisearch, "SIGSTOP");
    rows.push(await ask(memory, conversations, turns, "index frozen"));
    process.kill(meilisearch, "SIGCONT");
    printTable(`Recall of ${turns.size} turns of LoCoMo (categories 1 to 4); a write takes ${write.toFixed(1)} ms`, rows);
  } finally {
    await mesh.stop();
  }
}

async function connect(mesh: TestMesh): Promise<Memory> {
  const minter = new TokenMinter(readSigningKey(join(mesh.directory, "keys", "edge.jwk")));
  const port = mesh.state.services.find(({ name }) => name === "memory")!.port!;
  return {
    client: createClient(MemoryService, createMeshTransport(`http://127.0.0.1:${port}`)),
    options: async () => ({ headers: { authorization: `Bearer ${minter.mint(testPrincipal, "memory")}` } }),
  };
}

/** @returns fact id → ids of the turns that it was written from */
async function writeTurns({ client, options }: Memory, conversations: readonly Conversation[]): Promise<Map<string, string[]>> {
  const turns = new Map<string, string[]>();
  for (const [number, { conversation }] of conversations.entries())
    for (const session of Object.keys(conversation).filter((key) => /^session_\d+$/.test(key)))
      for (const { speaker, text, blip_caption: picture = "", dia_id: turn } of conversation[session] as Turn[]) {
        const fact = { text: `${speaker}: ${text} ${picture}`, scope: FactScope.PROJECT, project: projectOf(number) };
        const { factId } = (await client.writeFact(fact, await options())).fact!;
        turns.set(factId, [...(turns.get(factId) ?? []), turn]);
      }
  return turns;
}

/** Waits until the index has taken in enough to be asked. */
async function indexed({ client, options }: Memory): Promise<void> {
  const deadline = Date.now() + CATCH_UP_MILLISECONDS;
  while (Date.now() < deadline) {
    const { source } = await client.searchFacts({ query: "camping", project: projectOf(0) }, await options());
    if (source === SearchSource.INDEX) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`the index did not catch up in ${CATCH_UP_MILLISECONDS / 1000} s`);
}

async function ask({ client, options }: Memory, conversations: readonly Conversation[], turns: Map<string, string[]>, what: string) {
  const times: number[] = [];
  let recalled = 0;
  let byIndex = 0;
  for (const [number, { qa }] of conversations.entries())
    for (const { question, category, evidence = [] } of qa) {
      if (category === ADVERSARIAL || evidence.length === 0) continue;
      const begun = performance.now();
      const { facts, source } = await client.searchFacts({ query: question, project: projectOf(number), limit: FOUND }, await options());
      times.push(performance.now() - begun);
      if (source === SearchSource.INDEX) byIndex++;
      const found = new Set(facts.flatMap(({ fact }) => turns.get(fact!.factId) ?? []));
      recalled += evidence.filter((turn) => found.has(turn)).length / evidence.length;
    }
  return {
    what,
    questions: times.length,
    "recall@10 %": (100 * recalled) / times.length,
    "answered by the index %": (100 * byIndex) / times.length,
    "p50 ms": quantile(times, 0.5),
    "p95 ms": quantile(times, 0.95),
  };
}

function projectOf(number: number): string {
  return `/locomo/${number}`;
}
