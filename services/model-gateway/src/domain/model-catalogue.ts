import { HlvmError } from "@hlvm/errors/hlvm-error";
import { KeyRing, type KeyedProvider } from "./key-ring.ts";
import type { Model, ModelDescription } from "./model.ts";
import { ModelError } from "./model-error.ts";
import { PermittedModels } from "./permitted-models.ts";
import type { Provider } from "./provider.ts";

const NOT_PERMITTED = "Your organization does not permit it (HLVM_ALLOWED_MODELS).";
const LIST_DEADLINE_MILLISECONDS = 3_000;
/** Stands for the models of a provider that has to be asked for them, while it cannot be. */
const ANY_MODEL: ModelDescription = { name: "*", tier: "mid", capability: "agent", contextWindow: 0 };

/** A provider that the platform knows, whether or not it can be used here. */
export interface CataloguedProvider {
  readonly name: string;
  /** Undefined where its key or URL is not set. */
  readonly provider: Provider | undefined;
  /** Where it has several keys: it with each of them. */
  readonly keyed?: readonly KeyedProvider[];
  /** What to set so that it can be used. */
  readonly setUp: string;
  /** Why it cannot be used at the moment, although it is set up. */
  readonly failure?: HlvmError;
  /** Models to show while it cannot be used; empty where it has to be asked for them. */
  readonly known: readonly ModelDescription[];
  /** What is sent to it does not leave this machine. */
  readonly isLocal?: boolean;
  /** Plays rules or a script. */
  readonly isStandIn?: boolean;
  /** Reached by its name alone: nothing chooses it, and it is not shown where it is not set up. */
  readonly isApart?: boolean;
}

/** Where a model's calls go. */
export interface FoundProvider {
  readonly providerName: string;
  /** Within the provider. */
  readonly name: string;
  /** With the key that a call would take now. */
  readonly provider: Provider;
  readonly keys: KeyRing;
}

/** Which models there are, and which one a name stands for. */
export class ModelCatalogue {
  readonly #rings = new Map<string, KeyRing>();
  readonly #providers: readonly CataloguedProvider[];
  readonly #chosen: string;
  readonly #order: readonly string[];
  readonly #permitted: PermittedModels;

  /**
   * @param chosen the model to take where none is named; empty: the first of `order` whose key or URL is set.
   */
  constructor(
    providers: readonly CataloguedProvider[],
    chosen: string,
    order: readonly string[],
    permitted: PermittedModels = new PermittedModels([]),
  ) {
    this.#permitted = permitted;
    this.#providers = providers;
    for (const { name, provider, keyed = [] } of providers)
      if (provider !== undefined) this.#rings.set(name, new KeyRing(keyed.length > 0 ? keyed : [{ ending: "", provider }]));
    this.#chosen = chosen;
    this.#order = order;
  }

  /**
   * The concrete model behind a name; never another than the one that was named. Empty means the default.
   * @throws HlvmError `model_name_malformed`, `provider_unknown`, `model_not_permitted`, `provider_not_set_up`, `model_not_found`
   */
  async resolve(id: string, signal: AbortSignal): Promise<Model> {
    if (id === "" && this.#chosen === "") return this.#first(signal);
    const wanted = id === "" ? this.#chosen : id;
    const { provider, name, providerName } = this.find(wanted);
    const description = await provider.describe(name, signal);
    if (description === undefined) throw modelNotFound(wanted, providerName, await provider.list(signal));
    return this.#model(providerName, description, await this.#isDefault(wanted, providerName, signal));
  }

  /**
   * The provider of a model and the model's name there, without asking the provider whether it has it.
   * @throws HlvmError `model_name_malformed`, `provider_unknown`, `model_not_permitted`, `provider_not_set_up`, `keys_unavailable`
   */
  find(id: string): FoundProvider {
    const slash = id.indexOf("/");
    const providerName = id.slice(0, slash);
    const name = id.slice(slash + 1);
    if (slash < 1 || name === "")
      throw new HlvmError({
        code: "invalid_argument",
        reason: "model_name_malformed",
        message: `"${id}" does not name a model.`,
        advice: `Write provider/name, for example demo/rules. Providers: ${this.#names}. \`hlvm model list\` shows models.`,
      });
    const known = this.#providers.find((each) => each.name === providerName);
    if (known === undefined)
      throw new HlvmError({
        code: "not_found",
        reason: "provider_unknown",
        message: `There is no provider "${providerName}".`,
        advice: `Take one of ${this.#names}; \`hlvm model list\` shows models.`,
      });
    this.#permitted.demand(id);
    if (known.failure !== undefined) throw known.failure;
    const keys = this.#rings.get(providerName);
    if (keys === undefined)
      throw new HlvmError({
        code: "failed_precondition",
        reason: "provider_not_set_up",
        message: `${id} cannot be used: ${providerName} is not set up.`,
        advice: known.setUp,
      });
    return { providerName, name, provider: keys.provider(name), keys };
  }

  get #names(): string {
    return this.#shown.map((each) => each.name).join(", ");
  }

  get #shown(): readonly CataloguedProvider[] {
    return this.#providers.filter(({ isApart, provider }) => isApart !== true || provider !== undefined);
  }

  /** Every model worth showing. A provider that does not answer in time says so in place of its models' advice. */
  async list(signal: AbortSignal): Promise<readonly Model[]> {
    const defaultId = await this.#defaultId(signal);
    const listed = await Promise.all(this.#shown.map((each) => this.#listOne(each, defaultId, signal)));
    return listed.flat();
  }

  /** Of a provider that there is. */
  facts(providerName: string): Pick<CataloguedProvider, "isLocal" | "isStandIn" | "isApart"> {
    return this.#providers.find(({ name }) => name === providerName) ?? {};
  }

  async #listOne(each: CataloguedProvider, defaultId: string, signal: AbortSignal): Promise<readonly Model[]> {
    const unavailable = (advice: string): readonly Model[] =>
      (each.known.length === 0 ? [ANY_MODEL] : each.known).map((known) => ({
        ...this.#model(each.name, known, false),
        isAvailable: false,
        advice,
      }));
    if (each.provider === undefined) return unavailable(each.setUp);
    try {
      const descriptions = await each.provider.list(AbortSignal.any([signal, AbortSignal.timeout(LIST_DEADLINE_MILLISECONDS)]));
      return descriptions.map((description) => {
        const model = this.#model(each.name, description, defaultId === `${each.name}/${description.name}`);
        return this.#permitted.has(model.id) ? model : { ...model, isAvailable: false, advice: NOT_PERMITTED };
      });
    } catch (thrown) {
      if (signal.aborted || !(thrown instanceof ModelError)) throw thrown;
      return unavailable(`${thrown.message} ${thrown.advice}`);
    }
  }

  async #first(signal: AbortSignal): Promise<Model> {
    const first = this.#firstSetUp();
    if (first?.failure !== undefined) throw first.failure;
    const description = (await this.#permittedOf(first, signal))[0];
    if (first !== undefined && description !== undefined) return this.#model(first.name, description, true);
    throw new HlvmError({
      code: "failed_precondition",
      reason: "no_model",
      message: `${first?.name ?? "No provider"} offers no model.`,
      advice: "Name one with --model provider/name; `hlvm model list` shows what there is.",
    });
  }

  /** With those that cannot be used for the moment: none takes their place meanwhile. */
  #firstSetUp(): CataloguedProvider | undefined {
    const permitted = this.#order.filter((name) => this.#permitted.hasOf(name));
    const isSetUp = ({ provider, failure }: CataloguedProvider): boolean => provider !== undefined || failure !== undefined;
    return permitted.flatMap((name) => this.#providers.find((each) => each.name === name && isSetUp(each)) ?? [])[0];
  }

  async #permittedOf(each: CataloguedProvider | undefined, signal: AbortSignal): Promise<readonly ModelDescription[]> {
    const descriptions = (await each?.provider?.list(signal)) ?? [];
    return descriptions.filter(({ name }) => this.#permitted.has(`${each?.name}/${name}`));
  }

  /** Asks no other provider than the model's own: one that is down does not hold up the rest. */
  async #isDefault(id: string, providerName: string, signal: AbortSignal): Promise<boolean> {
    if (this.#chosen !== "") return id === this.#chosen;
    const first = this.#firstSetUp();
    if (first?.name !== providerName) return false;
    const [description] = await this.#permittedOf(first, signal);
    return id === `${providerName}/${description?.name}`;
  }

  async #defaultId(signal: AbortSignal): Promise<string> {
    if (this.#chosen !== "") return this.#chosen;
    try {
      return (await this.#first(AbortSignal.any([signal, AbortSignal.timeout(LIST_DEADLINE_MILLISECONDS)]))).id;
    } catch (thrown) {
      if (signal.aborted || !(thrown instanceof HlvmError)) throw thrown;
      return "";
    }
  }

  #model(provider: string, description: ModelDescription, isDefault: boolean): Model {
    return { ...description, id: `${provider}/${description.name}`, provider, isDefault, isAvailable: true, advice: "" };
  }
}

function modelNotFound(id: string, provider: string, models: readonly ModelDescription[]): HlvmError {
  const names = models.map((model) => `${provider}/${model.name}`).join(", ");
  return new HlvmError({
    code: "not_found",
    reason: "model_not_found",
    message: `There is no model ${id}.`,
    advice: names === "" ? `${provider} offers no model at the moment.` : `${provider} offers: ${names}.`,
  });
}
