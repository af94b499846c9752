/** Nano-dollars (10^-9 US dollars) a token, by the class in which it is counted: whole numbers, so that sums are exact. */
export interface TokenRates {
  readonly input: bigint;
  readonly output: bigint;
  readonly cacheRead: bigint;
  readonly cacheWrite: bigint;
  /** What the cache keeps for an hour. */
  readonly cacheWriteHour: bigint;
  /** Where reasoning has a price of its own; else it is output. */
  readonly reasoning?: bigint;
}

/** What a model costs from a time on. */
export interface ModelPrice {
  readonly validFrom: Date;
  readonly rates: TokenRates;
  /** For calls with more input than this, all of whose tokens have other rates. */
  readonly longInput?: { readonly above: number; readonly rates: TokenRates };
}

/** One line of a price list. `model` is `provider/name`, or `provider/*` for all of a provider's that are not named. */
export interface PriceEntry extends ModelPrice {
  readonly model: string;
}

/** What models cost, by date. */
export class PriceTable {
  readonly #prices = new Map<string, ModelPrice[]>();

  /** @param lists later ones replace what earlier ones say of a model */
  constructor(...lists: readonly (readonly PriceEntry[])[]) {
    for (const list of lists) {
      for (const { model } of list) this.#prices.delete(model);
      for (const { model, ...price } of list) this.#prices.set(model, [...(this.#prices.get(model) ?? []), price]);
    }
    for (const prices of this.#prices.values()) prices.sort((one, other) => one.validFrom.getTime() - other.validFrom.getTime());
  }

  /** Of one model, the oldest first; empty where nobody knows what it costs. */
  pricesOf(model: string): readonly ModelPrice[] {
    return this.#prices.get(model) ?? this.#prices.get(`${model.split("/", 1)[0]}/*`) ?? [];
  }
}
