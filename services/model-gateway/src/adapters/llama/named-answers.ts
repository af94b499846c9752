import { Exchange } from "../exchange.ts";
import { askJson } from "../ask-json.ts";
import { fieldsOf } from "../fields-of.ts";
import { onKeptConnection } from "../on-kept-connection.ts";
import { sendHttp } from "../send-http.ts";

const END_MILLISECONDS = 2_000;
/** Any other failure says that the server knows of no such thing, or that it is not there: nor is an answer then. */
const UNANSWERED = new Set(["connection_lost", "provider_timeout", "cancelled"]);

/** An answer that a server goes on with, as it lists it. */
interface ListedAnswer {
  readonly name: string;
  readonly isDone: boolean;
  readonly bytes: number;
}

export interface NamedAnswersSettings {
  readonly provider: string;
  /** Of the server, without the `/v1`. */
  readonly url: string;
  /** What the names of this gateway's answers begin with, before `::`; empty: it names none. */
  readonly prefix: string;
  /** How long an answer may go on that nobody reads. */
  readonly graceMilliseconds: number;
}

/**
 * The answers that one llama-server goes on with whether or not somebody reads them (`X-Conversation-Id`). It ends none by itself
 * before its last token: those whose gateway was killed are found by their prefix, and ended where nobody takes them over.
 */
export class NamedAnswers {
  /** Whether the server can do that; undefined before it has said so. */
  isPossible: boolean | undefined;
  readonly #settings: NamedAnswersSettings;
  readonly #ours = new Set<string>();
  readonly #ending = new Map<string, Promise<void>>();
  readonly #orphans = new Map<string, number>();

  constructor(settings: NamedAnswersSettings) {
    this.#settings = settings;
  }

  /** Of a gateway that is gone, still at work in a slot. */
  get orphans(): number {
    return this.#orphans.size;
  }

  /** To be called before an answer is asked for, or taken over. One of the same name is ended by then. */
  async take(name: string): Promise<void> {
    await this.#ending.get(name);
    this.#ours.add(name);
    this.#orphans.delete(name);
  }

  /** Never rejects: what could not be ended is found again, as nobody's. */
  end(name: string): Promise<void> {
    const ending = this.#ending.get(name) ?? this.#end(name).finally(() => this.#ending.delete(name));
    this.#ending.set(name, ending);
    return ending;
  }

  async #end(name: string): Promise<void> {
    const { provider, url } = this.#settings;
    const exchange = new Exchange(provider, AbortSignal.timeout(END_MILLISECONDS), () => undefined);
    try {
      const answer = await sendHttp(exchange, `${url}/v1/stream?conv_id=${encodeURIComponent(name)}`, { method: "DELETE", headers: {} });
      await answer.text();
    } catch {
      // It is listed the next time.
    } finally {
      exchange.close();
      this.#ours.delete(name);
      this.#orphans.delete(name);
    }
  }

  /** One that is finished is kept for a while. */
  endLater(name: string): void {
    setTimeout(() => void this.end(name), this.#settings.graceMilliseconds).unref();
  }

  /**
   * Finds those of a gateway that is gone, and ends those that nobody has come back for. Servers that know of no such thing have none;
   * of one that does not answer, what was known stays so.
   */
  async list(exchange: Exchange): Promise<void> {
    const { prefix, graceMilliseconds } = this.#settings;
    if (prefix === "") return;
    const listed = await this.#ask(exchange, prefix).catch(() => undefined);
    if (listed === undefined) return;
    const running = listed.filter(({ name, isDone }) => !isDone && !this.#ours.has(name));
    const now = performance.now();
    const known = new Map(running.map(({ name }) => [name, this.#orphans.get(name) ?? now]));
    this.#orphans.clear();
    for (const [name, since] of known) {
      this.#orphans.set(name, since);
      if (now - since >= graceMilliseconds) void this.end(name);
    }
  }

  /** How much of an answer the server has; undefined where it has none of that name. @throws ModelError where it does not answer */
  async bytesOf(name: string, exchange: Exchange): Promise<number | undefined> {
    return (await this.#ask(exchange, name)).find((answer) => answer.name === name)?.bytes;
  }

  async #ask(exchange: Exchange, name: string): Promise<readonly ListedAnswer[]> {
    const { provider, url } = this.#settings;
    const question = { provider, url: `${url}/v1/streams/lookup`, headers: {}, body: { conversation_ids: [name] } };
    const listed = await onKeptConnection(exchange, () => askJson<object>(exchange, question)).catch((thrown: unknown) => {
      const failure = exchange.failure(thrown);
      if (UNANSWERED.has(failure.reason)) throw failure;
      return undefined;
    });
    this.isPossible = Array.isArray(listed);
    if (!Array.isArray(listed)) return [];
    return listed
      .map(fieldsOf)
      .flatMap(({ conversation_id: id, is_done: isDone, total_bytes: bytes }) =>
        typeof id === "string" ? [{ name: id, isDone: isDone === true, bytes: Number(bytes) }] : [],
      );
  }
}
