/** How a server's chat completions differ from OpenAI's. What is left out is as OpenAI has it. */
export interface Dialect {
  /** Whether it can be told that usage is wanted; some refuse the field, and tell it anyway. */
  readonly takesStreamOptions?: boolean;
  readonly lengthField?: "max_tokens" | "max_completion_tokens";
  /** How it is told that some tool has to be called; undefined: it cannot be. */
  readonly anyTool?: "required" | "any" | undefined;
  /** Whether one tool can be named that has to be called. */
  readonly takesNamedTool?: boolean;
  readonly takesParallel?: boolean;
  readonly takesStop?: boolean;
  /** Whether an answer can be JSON by a schema, by none, or by both. */
  readonly json?: "both" | "object" | "schema";
  /** Where the effort goes; undefined: nowhere. */
  readonly effort?: "reasoning_effort" | "reasoning" | "thinking" | undefined;
  readonly takesCacheKey?: boolean;
  /** Where a hash of the user goes; undefined: nowhere. */
  readonly userField?: "user" | "safety_identifier" | undefined;
  readonly takesServiceTier?: boolean;
  /** Whether a call's id has to be nine letters and digits. */
  readonly hasShortIds?: boolean;
}

export const DIALECT_NAMES = [
  "openai",
  "google",
  "mistral",
  "deepseek",
  "xai",
  "groq",
  "moonshot",
  "openrouter",
  "ollama",
  "vllm",
  "lmstudio",
  "llama",
  "unknown",
] as const;
export type DialectName = (typeof DIALECT_NAMES)[number];

/** Of a server that nobody named, and that is not known by its address: what all of them take. */
const PLAIN: Dialect = { lengthField: "max_tokens", takesCacheKey: false, userField: undefined, takesServiceTier: false };

export const DIALECTS: Readonly<Record<DialectName, Dialect>> = {
  openai: { lengthField: "max_completion_tokens", userField: "safety_identifier" },
  google: { ...PLAIN, takesParallel: false },
  mistral: { ...PLAIN, takesStreamOptions: false, anyTool: "any", effort: undefined, hasShortIds: true },
  deepseek: { ...PLAIN, takesParallel: false, json: "object", effort: "thinking" },
  xai: { ...PLAIN, userField: "user" },
  groq: { ...PLAIN, lengthField: "max_completion_tokens", userField: "user" },
  moonshot: { ...PLAIN, takesParallel: false, effort: undefined, takesCacheKey: true, userField: "safety_identifier" },
  openrouter: { ...PLAIN, effort: "reasoning", userField: "user" },
  ollama: { ...PLAIN, anyTool: undefined, takesNamedTool: false, takesParallel: false },
  vllm: { ...PLAIN, userField: "user" },
  lmstudio: { ...PLAIN, takesNamedTool: false, takesParallel: false, json: "schema" },
  llama: { ...PLAIN, takesNamedTool: false, effort: undefined },
  unknown: PLAIN,
};

const USUAL = {
  takesStreamOptions: true,
  lengthField: "max_tokens",
  anyTool: "required",
  takesNamedTool: true,
  takesParallel: true,
  takesStop: true,
  json: "both",
  effort: "reasoning_effort",
  takesCacheKey: true,
  userField: "user",
  takesServiceTier: true,
  hasShortIds: false,
} as const satisfies Required<Dialect>;

/** With what OpenAI has for what the dialect leaves out. */
export function wholeDialect(name: DialectName): Required<Dialect> {
  return { ...USUAL, ...DIALECTS[name] };
}

const HOSTS: readonly (readonly [RegExp, DialectName])[] = [
  [/(^|\.)api\.openai\.com$/, "openai"],
  [/(^|\.)googleapis\.com$/, "google"],
  [/(^|\.)mistral\.ai$/, "mistral"],
  [/(^|\.)deepseek\.com$/, "deepseek"],
  [/(^|\.)x\.ai$/, "xai"],
  [/(^|\.)groq\.com$/, "groq"],
  [/(^|\.)moonshot\.(?:ai|cn)$/, "moonshot"],
  [/(^|\.)openrouter\.ai$/, "openrouter"],
];
/** Whose models a list says they are. */
const OWNERS: Readonly<Record<string, DialectName>> = {
  library: "ollama",
  vllm: "vllm",
  organization_owner: "lmstudio",
  llamacpp: "llama",
};

/** By the server's address; undefined where that says nothing. */
export function dialectOfUrl(url: string): DialectName | undefined {
  const { hostname } = new URL(url);
  return HOSTS.find(([host]) => host.test(hostname))?.[1];
}

/** By what a server says of the models in its list, as those do that people run themselves. */
export function dialectOfOwner(owner: unknown): DialectName | undefined {
  return typeof owner === "string" ? OWNERS[owner] : undefined;
}
