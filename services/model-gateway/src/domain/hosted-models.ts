import type { ModelDescription } from "./model.ts";

const frontier = { tier: "frontier", capability: "agent", takesImages: true, takesDocuments: true } as const;
/** Earlier models of both providers that read text alone, or images and no PDF. */
const TEXT_ONLY = /^(?:claude-(?:2|instant)|gpt-3|gpt-4(?:-0|-32k|$)|o1-mini|o1-preview|o3-mini)/;
const WITHOUT_DOCUMENTS = /^claude-3-(?:opus|sonnet|haiku)|^gpt-4-/;

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
  if (listed !== undefined) return listed;
  const takesImages = !TEXT_ONLY.test(name);
  const takesDocuments = takesImages && !WITHOUT_DOCUMENTS.test(name);
  return { name, contextWindow: UNLISTED_CONTEXT_WINDOW[provider], ...frontier, takesImages, takesDocuments };
}
