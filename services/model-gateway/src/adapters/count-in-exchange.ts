import { ModelError } from "../domain/model-error.ts";
import { Exchange } from "./exchange.ts";

/** A count is wanted now or not at all. */
const COUNT_MILLISECONDS = 5_000;

/**
 * Has a provider count in one exchange with it.
 * @param count what the provider gives as its count, whatever that is
 * @throws ModelError also where it gives no number
 */
export async function countInExchange(
  provider: string,
  signal: AbortSignal,
  count: (exchange: Exchange) => Promise<unknown>,
): Promise<number> {
  const exchange = new Exchange(provider, AbortSignal.any([signal, AbortSignal.timeout(COUNT_MILLISECONDS)]), () => undefined);
  try {
    const counted = await count(exchange);
    exchange.throwIfEnded();
    return requireCount(provider, counted);
  } catch (thrown) {
    throw exchange.failure(thrown);
  } finally {
    exchange.close();
  }
}

function requireCount(provider: string, counted: unknown): number {
  if (typeof counted === "number" && Number.isSafeInteger(counted) && counted >= 0) return counted;
  throw new ModelError({
    class: "permanent",
    reason: "count_malformed",
    message: `${provider} was asked to count tokens and answered with something else.`,
    advice: "Check that its URL is that of a model server.",
    provider,
  });
}
