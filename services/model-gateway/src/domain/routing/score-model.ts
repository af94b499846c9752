import type { Candidate } from "./candidate.ts";
import { SCORE_PARTS, type ScorePartName, type Weights } from "./weigh-task.ts";

/** A window that is worth nothing to a long context, and one that is worth all. */
const SMALL_WINDOW = 8_192;
const LARGE_WINDOW = 1_000_000;
/** Of a call, as they usually are: how many tokens of input come on one of output. */
const INPUT_A_OUTPUT = 3;
/** Nano-dollars a token of such a call: what is worth all to the price, and what is worth nothing. */
const CHEAP = 100;
const DEAR = 10_000;

interface Strength {
  readonly coding: number;
  readonly reasoning: number;
}

/**
 * Hosted models are all of the highest tier; among each provider's own their makers name the order, and this table is that order in
 * numbers, not a measurement: `hlvm eval` measures. First match counts.
 */
const HOSTED: readonly (readonly [RegExp, Strength])[] = [
  [/opus|fable|astra/, { coding: 1, reasoning: 1 }],
  [/-sol$|^gpt-5\.5$/, { coding: 0.98, reasoning: 0.98 }],
  [/sonnet|terra/, { coding: 0.9, reasoning: 0.85 }],
  [/haiku|luna|mini|nano|flash/, { coding: 0.5, reasoning: 0.5 }],
];
/** What is known of any other model: its tier. */
const BY_TIER: Readonly<Record<Candidate["model"]["tier"], Strength>> = {
  frontier: { coding: 0.8, reasoning: 0.8 },
  mid: { coding: 0.5, reasoning: 0.5 },
  weak: { coding: 0.2, reasoning: 0.2 },
};
const BY_CAPABILITY = { agent: 1, tool: 0.7, chat: 0.2 } as const;

export interface Scored {
  readonly candidate: Candidate;
  /** From 0 to 1. */
  readonly score: number;
  readonly parts: readonly { readonly name: ScorePartName; readonly value: number; readonly weight: number }[];
}

/** Every candidate with its score, in their order: the weighed mean of its parts. */
export function scoreModels(candidates: readonly Candidate[], weights: Weights): readonly Scored[] {
  const sum = SCORE_PARTS.reduce((whole, part) => whole + weights[part], 0);
  return candidates.map((candidate) => {
    const values = valuesOf(candidate);
    const parts = SCORE_PARTS.map((name) => ({ name, value: values[name], weight: weights[name] }));
    return { candidate, parts, score: parts.reduce((whole, { value, weight }) => whole + value * weight, 0) / sum };
  });
}

function valuesOf({ model, rates }: Candidate): Readonly<Record<ScorePartName, number>> {
  const isHosted = model.provider === "anthropic" || model.provider === "openai";
  const strength = (isHosted ? HOSTED.find(([pattern]) => pattern.test(model.name))?.[1] : undefined) ?? BY_TIER[model.tier];
  const usable = BY_CAPABILITY[model.capability];
  return {
    coding: strength.coding * usable,
    reasoning: strength.reasoning,
    images: model.takesImages === true ? 1 : 0,
    long_context: clamp(Math.log(Math.max(1, model.contextWindow) / SMALL_WINDOW) / Math.log(LARGE_WINDOW / SMALL_WINDOW)),
    structured_output: usable * (model.tier === "weak" ? 0.5 : 1),
    // Nobody knows that it is cheap.
    price: rates === undefined ? 0 : cheapness(priceOf(rates)),
  };
}

/** By the logarithm: half the price is worth the same wherever it is. What others cost does not matter. */
function cheapness(price: number): number {
  return 1 - clamp(Math.log(Math.max(1, price) / CHEAP) / Math.log(DEAR / CHEAP));
}

function priceOf({ input, output }: NonNullable<Candidate["rates"]>): number {
  return (Number(input) * INPUT_A_OUTPUT + Number(output)) / (INPUT_A_OUTPUT + 1);
}

function clamp(value: number): number {
  return Math.min(1, Math.max(0, value));
}
