import { dollarsText } from "@hlvm/ndjson/dollars-text";
import type { Cost } from "@hlvm/proto/hlvm/session/v1/spending_pb";

/** What calls cost together; `unknown` where nobody knows what any of them cost, and `at least` where that is so of some. */
export function costText(cost: Cost | undefined): string {
  const { nanoDollars = 0n, unpricedCalls = 0 } = cost ?? {};
  if (unpricedCalls === 0) return dollarsText(nanoDollars);
  return nanoDollars === 0n ? "unknown" : `at least ${dollarsText(nanoDollars)}`;
}
