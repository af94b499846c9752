import { classifyModel } from "../../domain/classify-model.ts";
import type { ModelDescription } from "../../domain/model.ts";
import type { ModelError } from "../../domain/model-error.ts";
import { ChatCompletionsProvider } from "../chat-completions/chat-completions-provider.ts";
import { askJson } from "../ask-json.ts";
import { Exchange } from "../exchange.ts";

export const LLAMA = "llama";

const ASK_MILLISECONDS = 2_000;
const BELIEVED_MILLISECONDS = 5_000;
const FAILURE_BELIEVED_MILLISECONDS = 3_000;
/** For a server that does not tell: no promise beyond one request at a time. */
const UNTOLD_CONTEXT_WINDOW = 4_096;
const UNTOLD_SLOTS = 1;

interface Properties {
  readonly total_slots?: number;
  readonly default_generation_settings?: { readonly n_ctx?: number };
  readonly chat_template?: string;
  /** Whether the model sees: servers that were given a projector beside it. */
  readonly modalities?: { readonly vision?: boolean };
  /** Newer servers say themselves what the template makes of tools. */
  readonly chat_template_caps?: { readonly supports_tools?: boolean };
}

interface ModelList {
  readonly data?: readonly { readonly id: string; readonly meta?: { readonly n_params?: number; readonly n_ctx?: number } | null }[];
}

/** One llama-server: what it said of itself last, and how many requests of ours it is working on. */
export class LlamaInstance {
  readonly url: string;
  readonly provider: ChatCompletionsProvider;
  models: readonly ModelDescription[] = [];
  slots = 0;
  inFlight = 0;
  /** Why it cannot be used now; undefined where it can. */
  failure: ModelError | undefined;
  #believedUntil = 0;
  #asking: Promise<void> | undefined;

  constructor(url: string, silenceMilliseconds?: number) {
    this.url = url.replace(/\/+$/, "").replace(/\/v1$/, "");
    this.provider = new ChatCompletionsProvider({
      name: LLAMA,
      dialect: "llama",
      baseUrl: `${this.url}/v1`,
      apiKey: "",
      silenceMilliseconds,
    });
  }

  /**
   * Asks the server for its models, its slots and its context; undefined where it was asked just now, whatever came of it.
   * Never rejects.
   */
  refresh(): Promise<void> | undefined {
    if (this.#believedUntil > Date.now()) return undefined;
    this.#asking ??= this.#ask().finally(() => (this.#asking = undefined));
    return this.#asking;
  }

  /** It could not be reached: it is asked again before it gets another request. */
  doubt(failure: ModelError): void {
    this.failure = failure;
    this.#believedUntil = 0;
  }

  get load(): number {
    return this.inFlight / Math.max(1, this.slots);
  }

  serves(model: string): boolean {
    return this.failure === undefined && this.models.some(({ name }) => name === model);
  }

  async #ask(): Promise<void> {
    const exchange = new Exchange(LLAMA, AbortSignal.timeout(ASK_MILLISECONDS), () => undefined);
    try {
      const [properties, list] = await Promise.all([
        askJson<Properties>(exchange, { provider: LLAMA, url: `${this.url}/props`, headers: {} }),
        askJson<ModelList>(exchange, { provider: LLAMA, url: `${this.url}/v1/models`, headers: {} }),
      ]);
      const contextWindow = properties.default_generation_settings?.n_ctx;
      this.slots = properties.total_slots ?? UNTOLD_SLOTS;
      const takesTools = rendersTools(properties);
      this.models = (list.data ?? []).map(({ id, meta }) =>
        classifyModel({
          name: id,
          parameters: meta?.n_params,
          contextWindow: contextWindow ?? meta?.n_ctx ?? UNTOLD_CONTEXT_WINDOW,
          takesTools,
          takesImages: properties.modalities?.vision === true,
        }),
      );
      this.failure = undefined;
      this.#believedUntil = Date.now() + BELIEVED_MILLISECONDS;
    } catch (thrown) {
      this.failure = exchange.failure(thrown);
      this.#believedUntil = Date.now() + FAILURE_BELIEVED_MILLISECONDS;
    } finally {
      exchange.close();
    }
  }
}

/** A chat template that has no word of tools leaves them out, and the model never hears of them. */
function rendersTools({ chat_template: template, chat_template_caps: capabilities }: Properties): boolean {
  return capabilities?.supports_tools ?? (template === undefined || template === "" || /\btools\b/.test(template));
}
