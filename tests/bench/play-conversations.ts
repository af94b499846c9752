import { setTimeout as sleep } from "node:timers/promises";
import type { PoolConversation, Said, Speak } from "./pool-traffic.ts";

/** So many conversations at a time, each turn after its think time. */
export async function playConversations(traffic: readonly PoolConversation[], atOnce: number, speak: Speak): Promise<Said[]> {
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
