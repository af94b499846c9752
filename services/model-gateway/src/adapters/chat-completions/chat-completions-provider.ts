import { classifyModel } from "../../domain/classify-model.ts";
import type { Delta, Generation } from "../../domain/generation.ts";
import type { ModelDescription } from "../../domain/model.ts";
import { ModelError } from "../../domain/model-error.ts";
import type { NamedAnswer, Provider } from "../../domain/provider.ts";
import { Exchange } from "../exchange.ts";
import type { HttpAnswer } from "../http-answer.ts";
import { isEventStream } from "../is-event-stream.ts";
import { readRefusal } from "../read-refusal.ts";
import { sendHttp } from "../send-http.ts";
import { chatRequest } from "./chat-request.ts";
import { ChatStream } from "./chat-stream.ts";
import { dialectOfOwner, dialectOfUrl, wholeDialect, type DialectName } from "./dialect.ts";

const UNKNOWN = "unknown";
/** A llama-server goes on with an answer that has a name, whether or not somebody reads it. */
const ANSWER_NAME = "x-conversation-id";
const LIST_MILLISECONDS = 2_000;
const LIST_REMEMBERED_MILLISECONDS = 60_000;
/** For a server that does not tell: what most of those that people run themselves have at least. */
const UNTOLD_CONTEXT_WINDOW = 32_768;

/** Servers that do not tell: names of models that people run themselves, and Google's, which take images. */
const VISION_NAME =
  /\b(?:gemini|gemma-?3|gpt-4o|gpt-[5-9]|claude|llava|pixtral|internvl|minicpm-v|llama-?4)|(?:^|[-_/\d.])vl(?:$|[-_:\d])|vision/i;

export interface ChatCompletionsSettings {
  /** As errors and logs call it. */
  readonly name: string;
  /** Up to and without `/chat/completions`, for example `http://127.0.0.1:8000/v1`. */
  readonly baseUrl: string;
  /** Empty where the server wants none. */
  readonly apiKey: string;
  /** Left out: by its address, else by what it says of its models. */
  readonly dialect?: DialectName;
  readonly silenceMilliseconds?: number;
  /** What this kind of server takes besides. */
  readonly fields?: Readonly<Record<string, unknown>>;
  /** Whether answers may be named, to go on without a reader: whoever names one has to end it. */
  readonly keepsAnswers?: boolean;
  /** Of its own for each answer: of a server that ends it behind a stream, whatever it says before. */
  readonly connection?: "own";
  /** For each answer: what sees every event of it before it is read, and throws where it is not what it should be. */
  readonly checkEvents?: (provider: string) => (event: string) => void;
}

interface ListedModel {
  readonly id: string;
  readonly owned_by?: unknown;
  /** vLLM. */
  readonly max_model_len?: number;
  /** OpenRouter. */
  readonly context_length?: number;
  /** OpenRouter: `tools` among them where the model can be told of tools. */
  readonly supported_parameters?: readonly string[];
  /** OpenRouter: `image` among them where the model takes images. */
  readonly architecture?: { readonly input_modalities?: readonly string[] };
}

/** Any server that speaks OpenAI's chat completions: vLLM, Ollama, Google, OpenRouter and many more. */
export class ChatCompletionsProvider implements Provider {
  readonly #settings: ChatCompletionsSettings;
  readonly #baseUrl: string;
  readonly #wantsCompletionTokens = new Set<string>();
  #dialect: DialectName;
  #listed: { readonly until: number; readonly models: readonly ModelDescription[] } | undefined;

  constructor(settings: ChatCompletionsSettings) {
    this.#settings = settings;
    this.#baseUrl = settings.baseUrl.replace(/\/+$/, "");
    this.#dialect = settings.dialect ?? dialectOfUrl(settings.baseUrl) ?? UNKNOWN;
  }

  async list(signal: AbortSignal): Promise<readonly ModelDescription[]> {
    if (this.#listed !== undefined && this.#listed.until > Date.now()) return this.#listed.models;
    const body = (await this.#get("/models", signal)) as { data?: readonly ListedModel[] } | null;
    const listed = body?.data ?? [];
    if (this.#dialect === UNKNOWN) this.#dialect = dialectOfOwner(listed[0]?.owned_by) ?? UNKNOWN;
    const models = listed.map(describe);
    this.#listed = { until: Date.now() + LIST_REMEMBERED_MILLISECONDS, models };
    return models;
  }

  /** Servers list less than they take, and some list nothing: any name is good until the server refuses it. */
  async describe(name: string, signal: AbortSignal): Promise<ModelDescription> {
    try {
      const models = await this.list(signal);
      return models.find((model) => model.name === name) ?? guess(name);
    } catch (thrown) {
      if (signal.aborted || !(thrown instanceof ModelError)) throw thrown;
      return guess(name);
    }
  }

  generate(generation: Generation, signal: AbortSignal, heard: () => void): AsyncGenerator<Delta, void> {
    return this.#read(generation.model, signal, heard, (exchange) => this.#open(generation, exchange));
  }

  /** An answer from its beginning that a server keeps which `keepsAnswers`; no other one is asked for it. @throws ModelError */
  keptAnswer({ model, answerName }: NamedAnswer, signal: AbortSignal, heard: () => void): AsyncGenerator<Delta, void> {
    return this.#read(model, signal, heard, async (exchange) => {
      const url = `${this.#baseUrl}/stream?conv_id=${encodeURIComponent(answerName)}&from=0`;
      const answer = await sendHttp(exchange, url, { method: "GET", headers: this.#headers(), connection: this.#settings.connection });
      if (isEventStream(answer)) return answer;
      throw await readRefusal(this.#settings.name, answer);
    });
  }

  async *#read(
    model: string,
    signal: AbortSignal,
    heard: () => void,
    open: (exchange: Exchange) => Promise<HttpAnswer>,
  ): AsyncGenerator<Delta, void> {
    const exchange = new Exchange(this.#settings.name, signal, heard, this.#settings.silenceMilliseconds);
    try {
      const answer = await open(exchange);
      const stream = new ChatStream(this.#settings.name, model, this.#settings.checkEvents?.(this.#settings.name));
      // Without `yield*`, which makes promises of what comes at once.
      for await (const piece of answer.pieces()) {
        for (const delta of stream.take(piece)) yield delta;
        if (stream.isOver) break;
      }
      for (const delta of stream.end()) yield delta;
    } catch (thrown) {
      throw exchange.failure(thrown);
    } finally {
      exchange.close();
    }
  }

  async #open(generation: Generation, exchange: Exchange): Promise<HttpAnswer> {
    const dialect = wholeDialect(this.#dialect);
    const lengthField = this.#wantsCompletionTokens.has(generation.model) ? "max_completion_tokens" : dialect.lengthField;
    const answer = await sendHttp(exchange, `${this.#baseUrl}/chat/completions`, {
      method: "POST",
      headers: {
        ...this.#headers(),
        "content-type": "application/json",
        accept: "text/event-stream",
        ...(this.#settings.keepsAnswers && generation.answerName !== undefined ? { [ANSWER_NAME]: generation.answerName } : {}),
      },
      body: JSON.stringify({
        ...(chatRequest(this.#settings.name, generation, { ...dialect, lengthField }) as object),
        ...this.#settings.fields,
      }),
      connection: this.#settings.connection,
    });
    if (isEventStream(answer)) return answer;
    const error = await readRefusal(this.#settings.name, answer);
    if (error.providerCode === "unsupported_parameter" && lengthField === "max_tokens" && error.message.includes("max_completion_tokens")) {
      this.#wantsCompletionTokens.add(generation.model);
      return this.#open(generation, exchange);
    }
    throw error;
  }

  async #get(path: string, signal: AbortSignal): Promise<unknown> {
    const exchange = new Exchange(this.#settings.name, AbortSignal.any([signal, AbortSignal.timeout(LIST_MILLISECONDS)]), () => undefined);
    try {
      const answer = await sendHttp(exchange, `${this.#baseUrl}${path}`, { method: "GET", headers: this.#headers() });
      if (!answer.ok) throw await readRefusal(this.#settings.name, answer);
      return JSON.parse(await answer.text()) as unknown;
    } catch (thrown) {
      throw exchange.failure(thrown);
    } finally {
      exchange.close();
    }
  }

  #headers(): Record<string, string> {
    return this.#settings.apiKey === "" ? {} : { authorization: `Bearer ${this.#settings.apiKey}` };
  }
}

/** What its name says. */
function guess(name: string): ModelDescription {
  return { ...describe({ id: name }), isGuess: true };
}

function describe({
  id,
  max_model_len: length,
  context_length: window,
  supported_parameters: takes,
  architecture,
}: ListedModel): ModelDescription {
  const takesImages = architecture?.input_modalities?.includes("image") ?? VISION_NAME.test(id);
  const contextWindow = length ?? window ?? UNTOLD_CONTEXT_WINDOW;
  return classifyModel({ name: id, contextWindow, takesTools: takes?.includes("tools"), takesImages });
}
