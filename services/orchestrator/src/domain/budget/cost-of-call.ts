import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Model, ModelPrice, TokenRates, Usage } from "@hlvm/proto/hlvm/model/v1/model_pb";

/** In nano-dollars. */
export interface CallCost {
  readonly whole: bigint;
  /** What its input cost, what the cache gave and took included. */
  readonly input: bigint;
}

/** What a call costs, exactly; undefined where nobody knows the model's price at that time. */
export function costOfCall(usage: Usage, { prices }: Pick<Model, "prices">, at: Date): CallCost | undefined {
  const rates = ratesAt(prices, inputOf(usage), at);
  if (rates === undefined) return undefined;
  const hour = least(usage.cacheWriteHourTokens, usage.cacheWriteTokens);
  const reasoning = least(usage.reasoningTokens, usage.outputTokens);
  const input =
    usage.inputTokens * rates.input +
    usage.cacheReadTokens * rates.cacheRead +
    (usage.cacheWriteTokens - hour) * rates.cacheWrite +
    hour * rates.cacheWriteHour;
  const output = (usage.outputTokens - reasoning) * rates.output + reasoning * (rates.reasoning ?? rates.output);
  return { whole: input + output, input };
}

/**
 * The most that a call can cost that has so many tokens of input and may write so many.
 * @returns undefined where nobody knows the model's price
 */
export function highestCost(input: bigint, output: bigint, { prices }: Pick<Model, "prices">, at: Date): bigint | undefined {
  const rates = ratesAt(prices, input, at);
  if (rates === undefined) return undefined;
  return input * highest(rates.input, rates.cacheWrite, rates.cacheRead) + output * highest(rates.output, rates.reasoning ?? 0n);
}

/** How many tokens of output an amount pays for beside the input; undefined where they cost nothing. */
export function outputWithin(amount: bigint, input: bigint, { prices }: Pick<Model, "prices">, at: Date): bigint | undefined {
  const rates = ratesAt(prices, input, at);
  const rate = rates === undefined ? 0n : highest(rates.output, rates.reasoning ?? 0n);
  if (rates === undefined || rate === 0n) return undefined;
  const left = amount - input * highest(rates.input, rates.cacheWrite, rates.cacheRead);
  return left <= 0n ? 0n : left / rate;
}

/** Input and output, whatever the cache gave: what budgets of tokens count. */
export function tokensOf(usage: Usage): bigint {
  return inputOf(usage) + usage.outputTokens;
}

/** All that a call read, wherever it came from. */
export function inputOf({ inputTokens, cacheReadTokens, cacheWriteTokens }: Usage): bigint {
  return inputTokens + cacheReadTokens + cacheWriteTokens;
}

/** What a model's tokens cost at a time, in a call with so many of input; undefined where nobody knows. */
export function ratesAt(prices: readonly ModelPrice[], input: bigint, at: Date): TokenRates | undefined {
  const price = prices.findLast(({ validFrom }) => validFrom !== undefined && timestampMs(validFrom) <= at.getTime());
  const isLong = price !== undefined && price.longInputTokens > 0n && input > price.longInputTokens;
  return isLong ? price.longInputRates : price?.rates;
}

function least(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}

function highest(...rates: readonly bigint[]): bigint {
  return rates.reduce((most, rate) => (rate > most ? rate : most), 0n);
}
