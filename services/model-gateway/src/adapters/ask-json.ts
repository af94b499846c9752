import type { Exchange } from "./exchange.ts";
import { readRefusal } from "./read-refusal.ts";
import { sendHttp } from "./send-http.ts";

export interface JsonQuestion {
  /** As errors call it. */
  readonly provider: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Left out: it is a GET. */
  readonly body?: unknown;
}

/**
 * What a provider answers in JSON, at once and whole; not its streams.
 * @throws ModelError, or the network's error, which the exchange knows how to tell
 */
export async function askJson<T extends object>(exchange: Exchange, { provider, url, headers, body }: JsonQuestion): Promise<T> {
  const request =
    body === undefined
      ? { method: "GET" as const, headers }
      : { method: "POST" as const, headers: { ...headers, "content-type": "application/json" }, body: JSON.stringify(body) };
  const answer = await sendHttp(exchange, url, request);
  if (!answer.ok) throw await readRefusal(provider, answer);
  return JSON.parse(await answer.text()) as T;
}
