import { HlvmError } from "@hlvm/errors/hlvm-error";

/** The models that this organization lets its people use: `provider/name`, where `*` stands for any characters. None: all. */
export class PermittedModels {
  readonly #models: readonly RegExp[];
  readonly #providers: readonly RegExp[];

  constructor(patterns: readonly string[]) {
    this.#models = patterns.map(matcher);
    this.#providers = patterns.map((pattern) => matcher(pattern.split("/", 1)[0]!));
  }

  has(id: string): boolean {
    return this.#models.length === 0 || this.#models.some((pattern) => pattern.test(id));
  }

  /** Whether any model of a provider may be permitted. */
  hasOf(provider: string): boolean {
    return this.#providers.length === 0 || this.#providers.some((pattern) => pattern.test(provider));
  }

  /** @throws HlvmError `model_not_permitted` */
  demand(id: string): void {
    if (!this.has(id)) throw notPermitted(id);
  }
}

function matcher(pattern: string): RegExp {
  const escaped = pattern.split(/\*+/).map((part) => part.replaceAll(/[$()*+.?[\\\]^{|}]/g, "\\$&"));
  return new RegExp(`^${escaped.join(".*")}$`, "s");
}

function notPermitted(id: string): HlvmError {
  return new HlvmError({
    code: "permission_denied",
    reason: "model_not_permitted",
    message: `Your organization does not permit ${id}.`,
    advice: "Take one that `hlvm model list` shows as available, or ask whoever runs HLVM to add it to HLVM_ALLOWED_MODELS.",
  });
}
