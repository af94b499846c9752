import { messageOf } from "@hlvm/errors/message-of";
import { classifyModel } from "../../domain/classify-model.ts";
import type { ModelDescription } from "../../domain/model.ts";
import type { ModelError } from "../../domain/model-error.ts";
import type { Replica } from "../../domain/pool/slot-share.ts";
import { askJson } from "../ask-json.ts";
import { ChatCompletionsProvider } from "../chat-completions/chat-completions-provider.ts";
import { Exchange } from "../exchange.ts";
import { fieldsOf } from "../fields-of.ts";
import { NamedAnswers, type NamedAnswersSettings } from "./named-answers.ts";
import { onKeptConnection } from "../on-kept-connection.ts";
import { sendHttp } from "../send-http.ts";
import { oneAnswer } from "./one-answer.ts";
import { SILENT, silent, STARTING, starting } from "./not-ready.ts";
import { SlotGroup } from "./slot-group.ts";

export const LLAMA = "llama";

const ASK_MILLISECONDS = 2_000;
const BELIEVED_MILLISECONDS = 5_000;
const FAILURE_BELIEVED_MILLISECONDS = 3_000;
const NOT_READY_BELIEVED_MILLISECONDS = 1_000;
/** What `/health` answers while a model is loaded. */
const LOADING_STATUS = 503;
/** For a server that does not tell: no promise beyond one request at a time. */
const UNTOLD_CONTEXT_WINDOW = 4_096;
const UNTOLD_SLOTS = 1;
const ALONE: Replica = { index: 0, count: 1 };

interface Properties {
  /** `router`: it stands before a server for each of its models. */
  readonly role?: string;
  readonly total_slots?: number;
  readonly default_generation_settings?: { readonly n_ctx?: number };
  readonly chat_template?: string;
  /** Whether the model sees: servers that were given a projector beside it. */
  readonly modalities?: { readonly vision?: boolean };
  /** Newer servers say themselves what the template makes of tools. */
  readonly chat_template_caps?: { readonly supports_tools?: boolean };
  /** Whether `/slots` is there. */
  readonly endpoint_slots?: boolean;
}

interface ListedModel {
  readonly id: string;
  readonly meta?: { readonly n_params?: number; readonly n_ctx?: number } | null;
  /** Of a router's model: `unloaded`, `loading`, `loaded` …; it is loaded when it is first asked. */
  readonly status?: { readonly value?: string; readonly failed?: boolean };
}

interface ModelList {
  readonly data?: readonly ListedModel[];
}

/** Which of its answers a server goes on with when nobody reads them. */
export type Keeping = Pick<NamedAnswersSettings, "prefix" | "graceMilliseconds">;

const NOT_KEEPING: Keeping = { prefix: "", graceMilliseconds: 0 };

export interface LlamaInstanceSettings {
  readonly silenceMilliseconds?: number;
  readonly replica?: Replica;
  readonly keeping?: Keeping;
}

/** What ends an instance's work for good or for a while: nothing new is sent to it, and what it is at is let finish. */
export interface Drain {
  readonly kind: "asked" | "vanished" | "distrusted";
  readonly why: string;
  readonly since: Date;
}

/** One llama-server: what it said of itself last, and what it is doing for us. */
export class LlamaInstance {
  readonly url: string;
  readonly provider: ChatCompletionsProvider;
  /** Of each model of a router; one of all models else. */
  groups: readonly SlotGroup[] = [];
  /** Why it cannot be used now; undefined where it can. */
  failure: ModelError | undefined;
  /** Since when it can be used, or cannot; undefined before it was asked. */
  since: Date | undefined;
  lastError = "";
  drain: Drain | undefined;
  readonly answers: NamedAnswers;
  readonly #replica: Replica;
  #believedUntil = 0;
  #asking: Promise<void> | undefined;

  constructor(url: string, { silenceMilliseconds, replica = ALONE, keeping = NOT_KEEPING }: LlamaInstanceSettings = {}) {
    this.url = url.replace(/\/+$/, "").replace(/\/v1$/, "");
    this.#replica = replica;
    this.answers = new NamedAnswers({ provider: LLAMA, url: this.url, ...keeping });
    this.provider = new ChatCompletionsProvider({
      name: LLAMA,
      dialect: "llama",
      baseUrl: `${this.url}/v1`,
      apiKey: "",
      silenceMilliseconds,
      // An event for each piece of the prompt that it has read: reading a long one is no silence, and a caller that has gone is noticed.
      fields: { return_progress: true },
      checkEvents: oneAnswer,
      keepsAnswers: true,
      // It ends a connection behind a stream that it said it would keep: the next request there broke off, every other one at worst.
      connection: "own",
    });
  }

  /** As people see it: without a password. */
  get name(): string {
    const url = new URL(this.url);
    url.username = url.password = "";
    return url.href.replace(/\/$/, "");
  }

  get models(): readonly ModelDescription[] {
    return this.groups.flatMap(({ models }) => models);
  }

  get inFlight(): number {
    return this.groups.reduce((sum, { inFlight }) => sum + inFlight, 0);
  }

  get slots(): number {
    return this.groups.reduce((sum, { slots }) => sum + slots, 0);
  }

  /** Whether it loads its model: nothing is wrong with it. */
  get isStarting(): boolean {
    return this.failure?.reason === STARTING;
  }

  /** Whether it may be well, and has only not said so in time. */
  get isSilent(): boolean {
    return this.failure?.reason === SILENT || this.failure?.reason === "connection_lost";
  }

  /** Whether it takes new requests. */
  get isOpen(): boolean {
    return this.failure === undefined && this.drain === undefined;
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

  /** It could not be reached, or what it said of itself was not so: it is asked again before it gets another request. */
  doubt(failure?: ModelError): void {
    if (failure !== undefined) this.#fail(failure);
    this.#believedUntil = 0;
  }

  #fail(failure: ModelError): void {
    if (this.failure === undefined || (this.failure.reason === STARTING) !== (failure.reason === STARTING)) this.since = new Date();
    this.failure = failure;
    this.lastError = this.isStarting ? "" : failure.message;
    // Whatever it was, it may have been started anew since: its cache is believed in once it shows that it is there.
    for (const { held } of this.groups) held.clear();
  }

  async #ask(): Promise<void> {
    const late = AbortSignal.timeout(ASK_MILLISECONDS);
    const exchange = new Exchange(LLAMA, late, () => undefined);
    try {
      await this.#askHealth(exchange);
      const [properties, list] = await Promise.all([
        this.#get<Properties>(exchange, "/props"),
        this.#get<ModelList>(exchange, "/v1/models"),
      ]);
      const models = list.data ?? [];
      if (properties.role === "router") {
        this.answers.isPossible = false;
        await this.#readRouter(exchange, models);
      } else {
        const group = this.groups[0] ?? new SlotGroup(this, "", this.#replica);
        await this.answers.list(exchange);
        await this.#readServer(exchange, { group, models, properties, query: "" });
        this.groups = [group];
      }
      if (this.failure !== undefined || this.since === undefined) this.since = new Date();
      this.failure = undefined;
      this.#believedUntil = Date.now() + BELIEVED_MILLISECONDS;
    } catch (thrown) {
      this.#fail(late.aborted ? silent(this.name, ASK_MILLISECONDS, NOT_READY_BELIEVED_MILLISECONDS) : exchange.failure(thrown));
      const mayBeReady = this.isStarting || this.isSilent;
      this.#believedUntil = Date.now() + (mayBeReady ? NOT_READY_BELIEVED_MILLISECONDS : FAILURE_BELIEVED_MILLISECONDS);
    } finally {
      exchange.close();
    }
  }

  async #readRouter(exchange: Exchange, models: readonly ListedModel[]): Promise<void> {
    const usable = models.filter(({ status }) => status?.failed !== true);
    this.groups = await Promise.all(
      usable.map(async (model) => {
        const group =
          this.groups.find((each) => each.models.some(({ name }) => name === model.id)) ?? new SlotGroup(this, model.id, this.#replica);
        const query = `?model=${encodeURIComponent(model.id)}&autoload=false`;
        const isLoaded = model.status?.value === "loaded";
        const properties = isLoaded ? await this.#get<Properties>(exchange, `/props${query}`) : {};
        await this.#readServer(exchange, { group, models: [model], properties, query });
        return group;
      }),
    );
  }

  async #readServer(exchange: Exchange, { group, models, properties, query }: ReadServer): Promise<void> {
    const slots = properties.endpoint_slots === true ? await this.#slots(exchange, query) : undefined;
    const told = [properties.default_generation_settings?.n_ctx ?? 0, ...(slots?.windows ?? [])].filter((size) => size > 0);
    const describe = ({ id, meta }: ListedModel): ModelDescription =>
      classifyModel({
        name: id,
        parameters: meta?.n_params,
        // What a slot holds counts: what is told of the whole server may be divided among them.
        contextWindow: Math.min(group.provenWindow, ...(told.length > 0 ? told : [meta?.n_ctx ?? UNTOLD_CONTEXT_WINDOW])),
        takesTools: rendersTools(properties),
        takesImages: properties.modalities?.vision === true,
      });
    group.describe(models.map(describe), properties.total_slots ?? UNTOLD_SLOTS);
    group.noteBusy(slots?.busy ?? 0);
  }

  /** Every slot is an object whose other fields differ between versions; a server that does not tell of them is no worse for it. */
  async #slots(exchange: Exchange, query: string): Promise<{ readonly busy: number; readonly windows: readonly number[] } | undefined> {
    try {
      const answer: unknown = await this.#get(exchange, `/slots${query}`);
      if (!Array.isArray(answer)) return undefined;
      const slots = answer.map(fieldsOf);
      return {
        busy: slots.filter(isBusy).length,
        windows: slots.flatMap(({ n_ctx: window }) => (typeof window === "number" ? [window] : [])),
      };
    } catch (thrown) {
      this.lastError = `/slots: ${messageOf(thrown)}`;
      return undefined;
    }
  }

  /** Whatever else it answers, servers without the path too, `/props` decides. @throws ModelError where it is loading its model */
  async #askHealth(exchange: Exchange): Promise<void> {
    const status = await onKeptConnection(exchange, async () => {
      const answer = await sendHttp(exchange, `${this.url}/health`, { method: "GET", headers: {} });
      await answer.text();
      return answer.status;
    });
    if (status === LOADING_STATUS) throw starting(this.name, NOT_READY_BELIEVED_MILLISECONDS);
  }

  #get<T extends object>(exchange: Exchange, path: string): Promise<T> {
    return onKeptConnection(exchange, () => askJson<T>(exchange, { provider: LLAMA, url: `${this.url}${path}`, headers: {} }));
  }
}

interface ReadServer {
  readonly group: SlotGroup;
  readonly models: readonly ListedModel[];
  readonly properties: Properties;
  readonly query: string;
}

/** `next_token` is an object in some versions and an array of one in others; older ones had no `is_processing`. */
function isBusy(slot: Readonly<Record<string, unknown>>): boolean {
  if (typeof slot.is_processing === "boolean") return slot.is_processing;
  const next = fieldsOf(Array.isArray(slot.next_token) ? slot.next_token[0] : slot.next_token);
  return next.has_next_token === true;
}

/** A chat template that has no word of tools leaves them out, and the model never hears of them. */
function rendersTools({ chat_template: template, chat_template_caps: capabilities }: Properties): boolean {
  return capabilities?.supports_tools ?? (template === undefined || template === "" || /\btools\b/.test(template));
}
