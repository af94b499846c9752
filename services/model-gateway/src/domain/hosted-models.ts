import type { ModelDescription } from "./model.ts";

const frontier = { tier: "frontier", capability: "agent" } as const;

/**
 * Hosted models that are shown and whose context window is known; the first of each list is that provider's default. A
 * provider takes any other name of its own as well. Windows are what the providers' model pages said in November 2026.
 */
export const HOSTED_MODELS = {
  anthropic: [
    { name: "claude-opus-5-5", contextWindow: 1_000_000, ...frontier },
    { name: "claude-sonnet-5-5", contextWindow: 1_000_000, ...frontier },
    { name: "claude-haiku-5-5", contextWindow: 1_000_000, ...frontier },
  ],
  openai: [
    { name: "gpt-5.5", contextWindow: 1_050_000, ...frontier },
    { name: "gpt-5.6-sol", contextWindow: 1_050_000, ...frontier },
    { name: "gpt-5.6-terra", contextWindow: 1_050_000, ...frontier },
    { name: "gpt-5.6-luna", contextWindow: 1_050_000, ...frontier },
  ],
} satisfies Record<string, readonly ModelDescription[]>;

/** For a name that is not listed, the smallest window among the models that a provider still serves. */
const UNLISTED_CONTEXT_WINDOW = { anthropic: 200_000, openai: 128_000 };

/** A hosted model of any name: whether it exists is for the provider to say. */
export function describeHosted(provider: keyof typeof HOSTED_MODELS, name: string): ModelDescription {
  const listed = HOSTED_MODELS[provider].find((model) => model.name === name);
  return listed ?? { name, contextWindow: UNLISTED_CONTEXT_WINDOW[provider], ...frontier };
}
