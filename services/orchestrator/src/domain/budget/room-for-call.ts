import type { Model } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { BudgetKind, type Budget } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import { BudgetExhausted, priceUnknown } from "./budget-exhausted.ts";
import { isRefusal, type CallAmounts, type Reservation } from "./budget-store.ts";
import { highestCost, outputWithin } from "./cost-of-call.ts";

/** An answer for which there is less room than this is not begun. */
const LEAST_OUTPUT_TOKENS = 256;
const LONGEST_TIMER_MILLISECONDS = 2 ** 31 - 1;

export interface WishedCall {
  readonly model: Model;
  /** Estimated. */
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/**
 * Reserves for a model call: for its input and for as much output as there is room for.
 * @returns what the answer may have, and what it was given
 * @throws BudgetExhausted, HlvmError `price_unknown`
 */
export async function roomForCall(
  { model, inputTokens, outputTokens }: WishedCall,
  reserve: (least: CallAmounts, most: CallAmounts) => Promise<Reservation | Budget>,
): Promise<{ readonly outputTokens: number; readonly limit: Reservation }> {
  const at = new Date();
  const input = BigInt(Math.ceil(inputTokens));
  const amounts = (output: bigint): CallAmounts => ({ tokens: input + output, money: highestCost(input, output, model, at) });
  const [least, most] = [BigInt(Math.min(LEAST_OUTPUT_TOKENS, outputTokens)), BigInt(outputTokens)];
  const answer = await reserve(amounts(least), amounts(most));
  if (isRefusal(answer)) {
    if (answer.kind === BudgetKind.MONEY && highestCost(input, least, model, at) === undefined) throw priceUnknown(model.id, answer);
    throw new BudgetExhausted(answer, "before the next model call");
  }
  const affordable = outputWithin(answer.money, input, model, at) ?? most;
  const rest = [most, answer.tokens - input, affordable].reduce((one, other) => (other < one ? other : one));
  const milliseconds = answer.milliseconds > LONGEST_TIMER_MILLISECONDS ? BigInt(LONGEST_TIMER_MILLISECONDS) : answer.milliseconds;
  return { outputTokens: Number(rest), limit: { ...answer, milliseconds } };
}
