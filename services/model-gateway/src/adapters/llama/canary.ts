import { randomBytes } from "node:crypto";
import { askJson } from "../ask-json.ts";
import { Exchange } from "../exchange.ts";
import { fieldsOf } from "../fields-of.ts";
import { LLAMA } from "./provider-name.ts";

const CANARY_MILLISECONDS = 30_000;
const ANSWER_TOKENS = 24;
/** Random, so no tokenizer has longer pieces of it than a few characters. */
const SECRET_BYTES = 128;
const FEWEST_SECRET_TOKENS = SECRET_BYTES / 4;

/**
 * Two conversations that begin differently from the first word on, each with a secret of its own, twice in turn. A server that
 * says the other's secret, or that says that it took from its cache what cannot be there, mixes conversations up.
 * @returns what it did; undefined where nothing was wrong, or it did not answer
 */
export async function findCrossTalk(url: string, model: string): Promise<string | undefined> {
  const exchange = new Exchange(LLAMA, AbortSignal.timeout(CANARY_MILLISECONDS), () => undefined);
  const secrets = [secret(), secret()] as const;
  try {
    for (const [turn, own] of [secrets[0], secrets[1], secrets[0], secrets[1]].entries()) {
      const { text, prompt, cached } = await say(exchange, { url, model, secret: own });
      const other = own === secrets[0] ? secrets[1] : secrets[0];
      if (text.includes(other.slice(0, 16))) return "it said what another conversation had given it to keep";
      // The first time nothing of the secret, which begins the prompt, was ever there before.
      if (turn < 2 && cached > prompt - FEWEST_SECRET_TOKENS)
        return `it took ${cached} of ${prompt} tokens from its cache for a prompt that it had never had`;
    }
  } catch {
    // That it does not answer is its health's matter.
  } finally {
    exchange.close();
  }
  return undefined;
}

const secret = (): string => randomBytes(SECRET_BYTES).toString("hex");

interface Said {
  readonly text: string;
  readonly prompt: number;
  readonly cached: number;
}

async function say(exchange: Exchange, asked: { url: string; model: string; secret: string }): Promise<Said> {
  const answer = await askJson<{ choices?: readonly unknown[]; usage?: unknown }>(exchange, {
    provider: LLAMA,
    url: `${asked.url}/v1/chat/completions`,
    headers: {},
    body: {
      model: asked.model,
      messages: [{ role: "user", content: `${asked.secret}\nRepeat the first line.` }],
      max_tokens: ANSWER_TOKENS,
      temperature: 0,
    },
  });
  const usage = fieldsOf(answer.usage);
  const content = fieldsOf(fieldsOf(answer.choices?.[0]).message).content;
  return {
    text: typeof content === "string" ? content : "",
    prompt: Number(usage.prompt_tokens ?? 0),
    cached: Number(fieldsOf(usage.prompt_tokens_details).cached_tokens ?? 0),
  };
}
