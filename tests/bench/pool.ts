import { fork } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createClient, type Client } from "@connectrpc/connect";
import { CallPriority, ModelService, Role } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { outgoing } from "@hlvm/rpc/call-context";
import { startLlamaServer, type LlamaServer } from "@hlvm/testing/llama-server";
import { createTestIdentity, testPrincipal } from "@hlvm/testing/test-identity";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { poolPolicies, type PoolPolicy } from "./pool-policies.ts";
import { cacheableCharacters, poolTraffic, type PoolConversation, type PoolTurn } from "./pool-traffic.ts";
import { printTable } from "./print-table.ts";
import { quantile } from "./quantile.ts";

const MAIN = fileURLToPath(new URL("../../services/model-gateway/src/main.ts", import.meta.url));
const SERVERS = 4;
const SLOTS = 2;
/** A fifth of a millisecond of one processor for each token of a prompt, more or less. */
const SIZE = { width: 192, blocks: 3 };
/** As `hlvm model serve` has them; and a model that means nothing says so many words. */
const FLAGS = ["--cache-ram", "0", "--no-cache-idle-slots", "--slot-prompt-similarity", "0.5", "--batch-size", "512", "--ignore-eos"];
const CONVERSATIONS = 8;
const AT_ONCE = 4;
const TURNS = 12;
const ANSWER_TOKENS = 12;
const BATCH_TOKENS = 24;
const BATCH_AT_ONCE = 8;
const FLOODED_CONVERSATIONS = 6;
const DEADLINE_MILLISECONDS = 120_000;

interface Said {
  readonly firstMilliseconds: number;
  readonly milliseconds: number;
  readonly promptTokens: number;
  readonly cachedTokens: number;
}

type Speak = (turn: PoolTurn, options?: { readonly isBatch?: boolean }) => Promise<Said>;

/**
 * The same conversations through the model gateway and under what others do, each with fresh llama-servers: time to the first
 * piece, what came from the servers' caches, and how evenly they worked. Then interactive turns beside a flood of batch requests.
 */
export async function benchPool(): Promise<void> {
  const traffic = poolTraffic(CONVERSATIONS, TURNS, 1);
  const rows: Awaited<ReturnType<typeof measure>>[] = [];
  for (const name of ["this pool", ...Object.keys(poolPolicies)]) {
    const row = await withServers(SERVERS, (servers) =>
      name === "this pool"
        ? withGateway(servers, (speak) => measure(name, { traffic, servers, speak }))
        : measure(name, { traffic, servers, speak: speakUnder(poolPolicies[name]!(SERVERS), servers) }),
    );
    rows.push(row);
  }
  printTable(
    `${CONVERSATIONS} conversations of ${TURNS} turns, ${AT_ONCE} at once, on ${SERVERS} llama-servers of ${SLOTS} slots`,
    rows.map(({ name, firsts, ...rest }) => ({
      policy: name,
      ...rest,
      "p90 beside this pool's": quantile(firsts, 0.9) / quantile(rows[0]!.firsts, 0.9),
    })),
  );
  await benchFlood();
}

async function benchFlood(): Promise<void> {
  const traffic = poolTraffic(FLOODED_CONVERSATIONS, TURNS, 2);
  const flood = poolTraffic(400, 1, 3);
  const rows = [];
  for (const isFlooded of [false, true]) {
    const row = await withServers(2, (servers) =>
      withGateway(servers, async (speak) => {
        const over = new AbortController();
        let batches = 0;
        const batch = async (): Promise<void> => {
          while (!over.signal.aborted) {
            await speak(flood[batches++ % flood.length]!.turns[0]!, { isBatch: true });
          }
        };
        const flooding = Promise.all(Array.from({ length: isFlooded ? BATCH_AT_ONCE : 0 }, batch));
        const saids = await play(traffic, 2, speak);
        over.abort();
        await flooding;
        const firsts = saids.map(({ firstMilliseconds }) => firstMilliseconds);
        const whole = saids.map(({ milliseconds }) => milliseconds);
        return {
          beside: isFlooded ? `a flood of batch requests (${batches} served)` : "nothing",
          "first piece p50 ms": quantile(firsts, 0.5),
          "p95 ms": quantile(firsts, 0.95),
          "whole answer p95 ms": quantile(whole, 0.95),
        };
      }),
    );
    rows.push(row);
  }
  printTable(`${FLOODED_CONVERSATIONS} interactive conversations, 2 at once, on 2 llama-servers`, rows);
}

async function measure(name: string, run: { traffic: readonly PoolConversation[]; servers: readonly LlamaServer[]; speak: Speak }) {
  const saids = await play(run.traffic, AT_ONCE, run.speak);
  const work = await Promise.all(run.servers.map(workOf));
  const firsts = saids.map(({ firstMilliseconds }) => firstMilliseconds);
  const cached = saids.reduce((sum, { cachedTokens }) => sum + cachedTokens, 0);
  const mean = work.reduce((sum, each) => sum + each, 0) / work.length;
  return {
    name,
    firsts,
    "first piece p50 ms": quantile(firsts, 0.5),
    "p90 ms": quantile(firsts, 0.9),
    "p95 ms": quantile(firsts, 0.95),
    "cached, of what could be": `${Math.round((cached / cacheableCharacters(run.traffic)) * 100)}%`,
    "tokens read p90": quantile(
      saids.map(({ promptTokens, cachedTokens }) => promptTokens - cachedTokens),
      0.9,
    ),
    "busiest server, of the mean": (Math.max(...work) / mean).toFixed(2),
  };
}

/** So many conversations at a time, each turn after its think time. */
async function play(traffic: readonly PoolConversation[], atOnce: number, speak: Speak): Promise<Said[]> {
  const saids: Said[] = [];
  const left = [...traffic];
  const worker = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift())
      for (const [index, turn] of next.turns.entries()) {
        await sleep(next.thinkMilliseconds[index]);
        saids.push(await speak(turn));
      }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return saids;
}

async function withServers<T>(count: number, body: (servers: readonly LlamaServer[]) => Promise<T>): Promise<T> {
  const servers: LlamaServer[] = [];
  try {
    for (let index = 0; index < count; index++) {
      const server = await startLlamaServer(SLOTS, { size: SIZE, flags: FLAGS });
      if ("unavailable" in server) throw new Error(server.unavailable);
      servers.push(server);
    }
    return await body(servers);
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

/** A real model gateway, in a process of its own. */
async function withGateway<T>(servers: readonly LlamaServer[], body: (speak: Speak) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "hlvm-pool-bench-"));
  const identity = await createTestIdentity();
  const keys = join(folder, "keys.json");
  writeFileSync(keys, JSON.stringify({ keys: identity.tokenKeys }));
  const child = fork(MAIN, {
    env: {
      PATH: process.env.PATH,
      HLVM_TOKEN_PUBLIC_KEYS: keys,
      HLVM_LLAMA_URLS: servers.map(({ url }) => url).join(","),
      HLVM_LOG_LEVEL: "warn",
    },
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  try {
    const [started] = (await once(child, "message")) as [{ readonly kind: string; readonly port: number }];
    if (started.kind !== "ready") throw new Error(`the model gateway did not start: ${JSON.stringify(started)}`);
    const client = createClient(ModelService, createMeshTransport(`http://127.0.0.1:${started.port}`));
    return await body((turn, { isBatch = false } = {}) =>
      speakThroughGateway(client, { turn, isBatch, token: identity.minter.mint(testPrincipal, "model-gateway") }),
    );
  } finally {
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    await exited;
    rmSync(folder, { recursive: true, force: true });
  }
}

async function speakThroughGateway(
  client: Client<typeof ModelService>,
  { turn, isBatch, token }: { readonly turn: PoolTurn; readonly isBatch: boolean; readonly token: string },
): Promise<Said> {
  const options = outgoing({ token, signal: new AbortController().signal, remainingMilliseconds: () => DEADLINE_MILLISECONDS });
  const startedAt = performance.now();
  let firstMilliseconds: number | undefined;
  let [promptTokens, cachedTokens] = [0, 0];
  const request = {
    model: "llama/random",
    messages: turn.text.map((text, index) => ({
      role: index === 0 ? Role.SYSTEM : Role.USER,
      parts: [{ part: { case: "text" as const, value: text } }],
    })),
    maxOutputTokens: isBatch ? BATCH_TOKENS : ANSWER_TOKENS,
    temperature: 1,
    priority: isBatch ? CallPriority.BATCH : CallPriority.INTERACTIVE,
    fairShare: isBatch ? "batch" : `conversation ${turn.conversation}`,
  };
  for await (const { event } of client.generate(request, options)) {
    if (event.case === "alive") continue;
    firstMilliseconds ??= performance.now() - startedAt;
    if (event.case === "usage") {
      cachedTokens = Number(event.value.cacheReadTokens);
      promptTokens = Number(event.value.inputTokens) + cachedTokens;
    }
  }
  const milliseconds = performance.now() - startedAt;
  return { firstMilliseconds: firstMilliseconds ?? milliseconds, milliseconds, promptTokens, cachedTokens };
}

/** Straight to the servers, never more than their slots; the others wait in order for the server that is theirs. */
function speakUnder(policy: PoolPolicy, servers: readonly LlamaServer[]): Speak {
  const inFlight = servers.map(() => 0);
  const queues = servers.map((): (() => void)[] => []);
  const working = servers.map(() => 0);
  return async (turn) => {
    const startedAt = performance.now();
    const index = policy(turn.conversation, inFlight);
    inFlight[index]!++;
    if (working[index]! >= SLOTS) await new Promise<void>((resolve) => queues[index]!.push(resolve));
    else working[index]!++;
    try {
      return await speakTo(servers[index]!, turn, startedAt);
    } finally {
      inFlight[index]!--;
      const next = queues[index]!.shift();
      if (next === undefined) working[index]!--;
      else next();
    }
  };
}

async function speakTo(server: LlamaServer, turn: PoolTurn, startedAt: number): Promise<Said> {
  const [system, ...users] = turn.text;
  const body = {
    model: server.model,
    messages: [
      { role: "system", content: system },
      { role: "user", content: users.join("\n\n") },
    ],
    stream: true,
    stream_options: { include_usage: true },
    max_tokens: ANSWER_TOKENS,
    temperature: 1,
  };
  const answer = await fetch(`${server.url}/v1/chat/completions`, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { connection: "close" },
  });
  let firstMilliseconds: number | undefined;
  let text = "";
  const decoder = new TextDecoder();
  for await (const piece of answer.body!) {
    text += decoder.decode(piece as Uint8Array, { stream: true });
    if (/"content":"/.test(text)) firstMilliseconds ??= performance.now() - startedAt;
  }
  const milliseconds = performance.now() - startedAt;
  const prompt = Number(/"prompt_tokens":(\d+)/.exec(text)?.[1] ?? 0);
  const cachedTokens = Number(/"cached_tokens":(\d+)/.exec(text)?.[1] ?? 0);
  return { firstMilliseconds: firstMilliseconds ?? milliseconds, milliseconds, promptTokens: prompt, cachedTokens };
}

/** Seconds that a server has read and written. */
async function workOf({ url }: LlamaServer): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  const of = (name: string): number => Number(new RegExp(`^llamacpp:${name} (\\S+)`, "m").exec(metrics)?.[1] ?? 0);
  return of("prompt_seconds_total") + of("tokens_predicted_seconds_total");
}
