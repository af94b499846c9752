import type { LlamaServer } from "@hlvm/testing/llama-server";
import { ANSWER_TOKENS } from "./pool-gateway.ts";
import type { PoolPolicy } from "./pool-policies.ts";
import { POOL_SLOTS } from "./pool-servers.ts";
import type { PoolTurn, Said, Speak } from "./pool-traffic.ts";

/** Straight to the servers, never more than their slots; the others wait in order for the server that is theirs. */
export function speakUnder(policy: PoolPolicy, servers: readonly LlamaServer[]): Speak {
  const inFlight = servers.map(() => 0);
  const queues = servers.map((): (() => void)[] => []);
  const working = servers.map(() => 0);
  return async (turn) => {
    const startedAt = performance.now();
    const index = policy(turn.conversation, inFlight);
    inFlight[index]!++;
    if (working[index]! >= POOL_SLOTS) await new Promise<void>((resolve) => queues[index]!.push(resolve));
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
