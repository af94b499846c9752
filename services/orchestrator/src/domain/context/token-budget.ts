/** For a model of which nobody says how much it takes. */
const UNTOLD_WINDOW = 32_768;
/** A provider's count is believed within these bounds of the estimate: what is beyond is no count. */
const LEAST_CORRECTION = 0.5;
const MOST_CORRECTION = 4;
/** Shares of what a compacted context has room for beside its fixed parts. */
const TAIL_SHARE = 0.35;
const SUMMARY_SHARE = 0.25;

/** How much of its window a model's answer is kept free, and when the context is compacted. */
export interface ContextLimits {
  readonly outputReserveTokens: number;
  /** Of the budget. */
  readonly compactionPercent: number;
}

/** What of a model's window the context may take, in tokens. */
export interface TokenBudget {
  readonly window: number;
  readonly reserve: number;
  /** The window less the reserve. */
  readonly limit: number;
  /** From here on the context is compacted. */
  readonly threshold: number;
}

/** A small window is not given away to the reserve: half of it at most. */
export function tokenBudget(contextWindow: number, { outputReserveTokens, compactionPercent }: ContextLimits): TokenBudget {
  const window = contextWindow > 0 ? contextWindow : UNTOLD_WINDOW;
  const reserve = Math.min(outputReserveTokens, Math.floor(window / 2));
  const limit = window - reserve;
  return { window, reserve, limit, threshold: Math.floor((limit * compactionPercent) / 100) };
}

/** What later estimates are multiplied with: the provider's count over the estimate of the same request. */
export function correctionOf(counted: number, estimated: number): number | undefined {
  if (counted <= 0 || estimated <= 0) return undefined;
  return Math.min(MOST_CORRECTION, Math.max(LEAST_CORRECTION, counted / estimated));
}

/** What a compacted context may come to. `fixed`: tokens that stay whatever is folded. */
export function compactedSizes({ threshold, limit }: TokenBudget, fixed: number): { readonly tail: number; readonly summary: number } {
  const room = Math.max(threshold - fixed, limit / 8);
  return { tail: Math.floor(room * TAIL_SHARE), summary: Math.floor(room * SUMMARY_SHARE) };
}
