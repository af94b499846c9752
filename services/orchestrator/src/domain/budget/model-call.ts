import { create } from "@bufbuild/protobuf";
import { UsageSchema, type Model, type Usage } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { BudgetKind } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import type { ModelEvent } from "../loop/ports.ts";
import { addUsage } from "../loop/add-usage.ts";
import { BudgetExhausted } from "./budget-exhausted.ts";
import type { Reservation, SettledCall } from "./budget-store.ts";
import type { PrefixFacts } from "./prefix-ledger.ts";
import { costOfCall, ratesAt, tokensOf } from "./cost-of-call.ts";

/** As input is estimated. */
const BYTES_A_TOKEN = 4;

export interface CallBegun {
  readonly model: Model;
  /** Estimated, and corrected by what the provider counted. */
  readonly inputTokens: number;
  /** What it may write. */
  readonly outputTokens: number;
  readonly toolTokens: Readonly<Record<string, number>>;
  /** When the run's call before it was settled. */
  readonly since: number;
  /** Set where budgets limit it. */
  readonly limit?: Reservation;
}

/** What is found of a call's prefix once its provider has counted it. */
export type FindPrefix = (usage: Usage, at: Date, model: Model) => PrefixFacts;

/**
 * One model call from its reservation to its end. While it streams, what it has written is estimated: past what its budgets have
 * left it is stopped, whatever the provider was told of its length.
 */
export class ModelCall {
  readonly #begun: CallBegun;
  /** The one that answers: it is what is paid for. */
  #model: Model;
  readonly #ending = new AbortController();
  readonly #timer: NodeJS.Timeout | undefined;
  #seenBytes = 0;
  #usage: Usage = create(UsageSchema);
  #isSettled = false;
  #findPrefix: FindPrefix | undefined;

  constructor(begun: CallBegun) {
    this.#begun = begun;
    this.#model = begun.model;
    const { limit } = begun;
    if (limit !== undefined && limit.limitedBy.some(({ kind }) => kind === BudgetKind.TIME))
      this.#timer = setTimeout(() => this.#ending.abort(this.#exhausted(BudgetKind.TIME)), Number(limit.milliseconds));
  }

  /** Tokens that the answer may have. */
  get outputTokens(): number {
    return this.#begun.outputTokens;
  }

  /** Of a model that answers in the place of this call's: what was reserved has to be enough for it too. */
  get fallbackNeeds(): { readonly inputPrice: bigint; readonly outputPrice: bigint } | undefined {
    const { limit, model, inputTokens } = this.#begun;
    const rates = limit === undefined ? undefined : ratesAt(model.prices, BigInt(Math.ceil(inputTokens)), new Date());
    return rates && { inputPrice: rates.input, outputPrice: rates.output };
  }

  /** Aborted with a BudgetExhausted when there is no time left for it. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** What the run is charged for: what the provider counted, else what was seen. */
  get usage(): Usage {
    return this.#isCounted ? this.#usage : this.#estimate();
  }

  /** A call of the run's conversation, which the next one begins with: what its provider's cache gave of it is on record. */
  follow(findPrefix: FindPrefix): void {
    this.#findPrefix = findPrefix;
  }

  /** @throws BudgetExhausted where the answer grows over what its budgets have left */
  see(event: ModelEvent): void {
    if (event.case === "servedBy") this.#model = event.value.model ?? this.#model;
    if (event.case === "usage") this.#usage = addUsage(this.#usage, event.value);
    this.#seenBytes += bytesOf(event);
    if (this.#begun.limit === undefined || this.#seenTokens <= this.#begun.outputTokens) return;
    const exhausted = this.exhausted();
    if (exhausted === undefined) return;
    this.#ending.abort(exhausted);
    throw exhausted;
  }

  /** Why the answer could not be longer; undefined where no budget is the reason. */
  exhausted(): BudgetExhausted | undefined {
    const { limit } = this.#begun;
    const named = limit?.limitedBy.find(({ kind }) => kind === BudgetKind.TOKENS || kind === BudgetKind.MONEY);
    return named === undefined ? undefined : this.#exhausted(named.kind);
  }

  /** @returns undefined where nothing came of it, for which nobody is charged */
  settle(turn: number): SettledCall | undefined {
    clearTimeout(this.#timer);
    if (this.#isSettled || (!this.#isCounted && this.#seenBytes === 0)) return undefined;
    this.#isSettled = true;
    const { toolTokens, since } = this.#begun;
    const { usage } = this;
    const model = this.#model;
    const at = new Date();
    const cost = costOfCall(usage, model, at);
    return {
      ...(this.#isCounted ? this.#findPrefix?.(usage, at, model) : undefined),
      turn,
      model: model.id,
      input: usage.inputTokens,
      output: usage.outputTokens,
      cacheRead: usage.cacheReadTokens,
      cacheWrite: usage.cacheWriteTokens,
      reasoning: usage.reasoningTokens,
      ...(cost === undefined ? {} : { cost: cost.whole, inputCost: cost.input }),
      isEstimated: !this.#isCounted,
      ...(Object.keys(toolTokens).length === 0 ? {} : { toolTokens }),
      tokens: tokensOf(usage),
      milliseconds: Math.round(performance.now() - since),
    };
  }

  get #isCounted(): boolean {
    return tokensOf(this.#usage) > 0n;
  }

  get #seenTokens(): number {
    return Math.ceil(this.#seenBytes / BYTES_A_TOKEN);
  }

  #estimate(): Usage {
    if (this.#seenBytes === 0) return this.#usage;
    const { inputTokens } = this.#begun;
    return create(UsageSchema, { inputTokens: BigInt(Math.ceil(inputTokens)), outputTokens: BigInt(this.#seenTokens) });
  }

  #exhausted(kind: BudgetKind): BudgetExhausted {
    const budget = this.#begun.limit!.limitedBy.find((one) => one.kind === kind)!;
    // The call was given all that was left of it.
    return new BudgetExhausted({ ...budget, used: budget.limit - budget.reserved }, "in the middle of an answer");
  }
}

function bytesOf(event: ModelEvent): number {
  switch (event.case) {
    case "textDelta":
    case "thinkingDelta":
      return Buffer.byteLength(event.value);
    case "toolCall":
      return Buffer.byteLength(event.value.tool + event.value.argumentsJson);
    default:
      return 0;
  }
}
