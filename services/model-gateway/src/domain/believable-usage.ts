import type { Usage } from "./generation.ts";

/** Of one class in one call: a thousand times what the largest windows hold. */
const MOST_TOKENS = 1_000_000_000;

/**
 * What a provider says that a call used, where it can be true. Negative counts would give budgets back, and what is no whole
 * number, or beyond every window, can neither be sent nor kept.
 * @returns undefined where it cannot: whoever pays goes by what was seen
 */
export function believableUsage(usage: Usage): Usage | undefined {
  const counts = [usage.input, usage.output, usage.cacheRead, usage.cacheWrite, usage.cacheWriteHour ?? 0, usage.reasoning];
  return counts.every((count) => Number.isInteger(count) && count >= 0 && count <= MOST_TOKENS) ? usage : undefined;
}
