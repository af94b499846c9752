import type { Model } from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { DoorModels } from "./door-models.ts";

/** So long a model that a provider has given up is still asked, and refuses. */
const REMEMBER_MILLISECONDS = 2_000;
const MOST_REMEMBERED = 500;

/** What names stand for, asked for once in two seconds: it is the same for everybody. */
export class RememberedModels {
  readonly #known = new Map<string, { readonly model: Model; readonly until: number }>();

  /** The same models, but resolved from memory where that knows the name. */
  before(models: DoorModels): DoorModels {
    return {
      resolve: async (name, signal) => {
        const known = this.#known.get(name);
        if (known !== undefined && known.until > performance.now()) return known.model;
        const model = await models.resolve(name, signal);
        if (this.#known.size >= MOST_REMEMBERED) this.#known.clear();
        this.#known.set(name, { model, until: performance.now() + REMEMBER_MILLISECONDS });
        return model;
      },
      generate: (request, signal) => models.generate(request, signal),
      countTokens: (request, signal) => models.countTokens(request, signal),
      embed: (request, signal) => models.embed(request, signal),
    };
  }
}
