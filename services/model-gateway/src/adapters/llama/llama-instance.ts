import { messageOf } from "@hlvm/errors/message-of";
import { classifyModel } from "../../domain/classify-model.ts";
import type { ModelDescription } from "../../domain/model.ts";
import type { ModelError } from "../../domain/model-error.ts";
import type { Replica } from "../../domain/pool/slot-share.ts";
import { ChatCompletionsProvider } from "../chat-completions/chat-completions-provider.ts";
import { Exchange } from "../exchange.ts";
import { NamedAnswers, type NamedAnswersSettings } from "./named-answers.ts";
import { oneAnswer } from "./one-answer.ts";
import { SILENT, silent, STARTING, starting } from "./not-ready.ts";
import { LLAMA } from "./provider-name.ts";
import { ServerQuestions, type ListedModel, type ServerProperties, type SlotUse } from "./server-questions.ts";
import { SlotGroup } from "./slot-group.ts";

const ASK_MILLISECONDS = 2_000;
const BELIEVED_MILLISECONDS = 5_000;
const FAILURE_BELIEVED_MILLISECONDS = 3_000;
const NOT_READY_BELIEVED_MILLISECONDS = 1_000;
/** For a server that does not tell: no promise beyond one request at a time. */
const UNTOLD_CONTEXT_WINDOW = 4_096;
const UNTOLD_SLOTS = 1;
const ALONE: Replica = { index: 0, count: 1 };

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
      const questions = new ServerQuestions(this.url, exchange);
      if (await questions.isLoading()) throw starting(this.name, NOT_READY_BELIEVED_MILLISECONDS);
      const [properties, models] = await Promise.all([questions.properties(), questions.models()]);
      if (properties.role === "router") {
        this.answers.isPossible = false;
        await this.#readRouter(questions, models);
      } else {
        const group = this.groups[0] ?? new SlotGroup(this, "", this.#replica);
        await this.answers.list(exchange);
        await this.#readServer(questions, { group, models, properties, query: "" });
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

  async #readRouter(questions: ServerQuestions, models: readonly ListedModel[]): Promise<void> {
    const usable = models.filter(({ status }) => status?.failed !== true);
    this.groups = await Promise.all(
      usable.map(async (model) => {
        const group =
          this.groups.find((each) => each.models.some(({ name }) => name === model.id)) ?? new SlotGroup(this, model.id, this.#replica);
        const query = `?model=${encodeURIComponent(model.id)}&autoload=false`;
        const isLoaded = model.status?.value === "loaded";
        const properties = isLoaded ? await questions.properties(query) : {};
        await this.#readServer(questions, { group, models: [model], properties, query });
        return group;
      }),
    );
  }

  async #readServer(questions: ServerQuestions, { group, models, properties, query }: ReadServer): Promise<void> {
    const slots = properties.endpoint_slots === true ? await this.#slots(questions, query) : undefined;
    const windows = [properties.default_generation_settings?.n_ctx ?? 0, ...(slots?.windows ?? [])].filter((size) => size > 0);
    const describe = ({ id, meta }: ListedModel): ModelDescription =>
      classifyModel({
        name: id,
        parameters: meta?.n_params,
        // What a slot holds counts: what is told of the whole server may be divided among them.
        contextWindow: Math.min(group.provenWindow, ...(windows.length > 0 ? windows : [meta?.n_ctx ?? UNTOLD_CONTEXT_WINDOW])),
        takesTools: rendersTools(properties),
        takesImages: properties.modalities?.vision === true,
      });
    group.describe(models.map(describe), properties.total_slots ?? UNTOLD_SLOTS);
    group.noteBusy(slots?.busy ?? 0);
  }

  /** A server that does not tell of its slots is no worse for it. */
  async #slots(questions: ServerQuestions, query: string): Promise<SlotUse | undefined> {
    try {
      return await questions.slots(query);
    } catch (thrown) {
      this.lastError = `/slots: ${messageOf(thrown)}`;
      return undefined;
    }
  }
}

interface ReadServer {
  readonly group: SlotGroup;
  readonly models: readonly ListedModel[];
  readonly properties: ServerProperties;
  readonly query: string;
}

/** A chat template that has no word of tools leaves them out, and the model never hears of them. */
function rendersTools({ chat_template: template, chat_template_caps: capabilities }: ServerProperties): boolean {
  return capabilities?.supports_tools ?? (template === undefined || template === "" || /\btools\b/.test(template));
}
