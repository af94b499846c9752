import type { LlamaServer } from "@hlvm/testing/llama-server";
import { playConversations } from "./play-conversations.ts";
import { speakUnder } from "./pool-direct.ts";
import { benchPoolFlood } from "./pool-flood.ts";
import { withPoolGateway } from "./pool-gateway.ts";
import { poolPolicies } from "./pool-policies.ts";
import { POOL_SLOTS, withServers } from "./pool-servers.ts";
import { cacheableCharacters, poolTraffic, type PoolConversation, type Speak } from "./pool-traffic.ts";
import { printTable } from "./print-table.ts";
import { quantile } from "./quantile.ts";

const SERVERS = 4;
const CONVERSATIONS = 8;
const AT_ONCE = 4;
const TURNS = 12;

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
        ? withPoolGateway(servers, (speak) => measure(name, { traffic, servers, speak }))
        : measure(name, { traffic, servers, speak: speakUnder(poolPolicies[name]!(SERVERS), servers) }),
    );
    rows.push(row);
  }
  printTable(
    `${CONVERSATIONS} conversations of ${TURNS} turns, ${AT_ONCE} at once, on ${SERVERS} llama-servers of ${POOL_SLOTS} slots`,
    rows.map(({ name, firsts, ...rest }) => ({
      policy: name,
      ...rest,
      "p90 beside this pool's": quantile(firsts, 0.9) / quantile(rows[0]!.firsts, 0.9),
    })),
  );
  await benchPoolFlood();
}

async function measure(name: string, run: { traffic: readonly PoolConversation[]; servers: readonly LlamaServer[]; speak: Speak }) {
  const saids = await playConversations(run.traffic, AT_ONCE, run.speak);
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

/** Seconds that a server has read and written. */
async function workOf({ url }: LlamaServer): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  const of = (name: string): number => Number(new RegExp(`^llamacpp:${name} (\\S+)`, "m").exec(metrics)?.[1] ?? 0);
  return of("prompt_seconds_total") + of("tokens_predicted_seconds_total");
}
