import { playConversations } from "./play-conversations.ts";
import { withPoolGateway } from "./pool-gateway.ts";
import { withServers } from "./pool-servers.ts";
import { poolTraffic } from "./pool-traffic.ts";
import { printTable } from "./print-table.ts";
import { quantile } from "./quantile.ts";

const CONVERSATIONS = 6;
const TURNS = 12;
const BATCH_AT_ONCE = 8;

/** Interactive conversations alone, and beside more batch requests than there are slots. */
export async function benchPoolFlood(): Promise<void> {
  const traffic = poolTraffic(CONVERSATIONS, TURNS, 2);
  const flood = poolTraffic(400, 1, 3);
  const rows = [];
  for (const isFlooded of [false, true]) {
    const row = await withServers(2, (servers) =>
      withPoolGateway(servers, async (speak) => {
        const over = new AbortController();
        let batches = 0;
        const batch = async (): Promise<void> => {
          while (!over.signal.aborted) {
            await speak(flood[batches++ % flood.length]!.turns[0]!, { isBatch: true });
          }
        };
        const flooding = Promise.all(Array.from({ length: isFlooded ? BATCH_AT_ONCE : 0 }, batch));
        const saids = await playConversations(traffic, 2, speak);
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
  printTable(`${CONVERSATIONS} interactive conversations, 2 at once, on 2 llama-servers`, rows);
}
