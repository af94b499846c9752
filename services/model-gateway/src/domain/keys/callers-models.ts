import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { ModelCatalogue } from "../model-catalogue.ts";
import type { Router } from "../routing/router.ts";
import { contextOf, type ProviderKeyStore, type StoredKey } from "./provider-keys.ts";
import { openSecret, type KeyWrapper } from "./sealed-secret.ts";

/** The keys are there, and cannot be read for now. */
export const KEYS_UNAVAILABLE = "keys_unavailable";
/** How long a replica may not know of a change that another one made. */
const KNOWN_MILLISECONDS = 5_000;
/** How long keys that were read serve while their database is away. */
const KEPT_MILLISECONDS = 300_000;
const MOST_ORGANIZATIONS = 1_000;
const MOST_KEY_SETS = 500;

/** What a caller can ask of models. */
export interface Models {
  readonly catalogue: ModelCatalogue;
  readonly router: Router;
}

export interface ModelCaller {
  readonly organization: string;
  /** As the edge signed them. */
  readonly teams: readonly string[];
}

/** By provider: the secrets that a caller uses, or why theirs cannot be read. */
export type CallersKeys = ReadonlyMap<string, readonly string[] | HlvmError>;

export interface CallersModelsParts {
  /** By the gateway's own keys, for whom nobody gave any. */
  readonly own: Models;
  readonly store: ProviderKeyStore;
  readonly wrapper: KeyWrapper;
  /** What keys can be given for here. */
  readonly providers: readonly string[];
  readonly build: (keys: CallersKeys) => Models;
}

type OpenedKey = Pick<StoredKey, "id" | "team" | "provider" | "version"> & { readonly secret: string | HlvmError };

interface Known {
  readonly at: number;
  readonly keys: Promise<readonly OpenedKey[]>;
}

/**
 * Models by the keys of who calls: those of their teams where one of these has any for a provider, else those of their organization,
 * else the gateway's own. A key that is there and cannot be read is no reason to take another's.
 */
export class CallersModels {
  readonly #parts: CallersModelsParts;
  readonly #known = new Map<string, Known>();
  readonly #lastGood = new Map<string, Known>();
  readonly #models = new Map<string, Models>();

  constructor(parts: CallersModelsParts) {
    this.#parts = parts;
  }

  async of({ organization, teams }: ModelCaller): Promise<Models> {
    const keys = await this.#keysOf(organization).catch((cause: unknown) => unavailable(cause));
    if (keys instanceof HlvmError)
      return this.#built(`unavailable ${keys.message}`, new Map(this.#parts.providers.map((name) => [name, keys])));
    const used = this.#parts.providers.flatMap((provider) => keysFor(keys, provider, teams));
    if (used.length === 0) return this.#parts.own;
    const bySecret = Map.groupBy(used, ({ provider }) => provider);
    const chosen = new Map([...bySecret].map(([provider, each]) => [provider, secretsOf(each)] as const));
    return this.#built(used.map(({ id, version }) => `${id}.${version}`).join(" "), chosen);
  }

  /** Its keys have changed: they are read anew for the next call. */
  forget(organization: string): void {
    this.#known.delete(organization);
    this.#lastGood.delete(organization);
  }

  async #keysOf(organization: string): Promise<readonly OpenedKey[]> {
    const known = this.#known.get(organization);
    if (known !== undefined && Date.now() - known.at < KNOWN_MILLISECONDS) return known.keys;
    const read: Known = { at: Date.now(), keys: this.#read(organization) };
    remember(this.#known, organization, read, MOST_ORGANIZATIONS);
    try {
      const keys = await read.keys;
      remember(this.#lastGood, organization, read, MOST_ORGANIZATIONS);
      return keys;
    } catch (thrown) {
      if (this.#known.get(organization) === read) this.#known.delete(organization);
      const good = this.#lastGood.get(organization);
      if (good !== undefined && Date.now() - good.at < KEPT_MILLISECONDS) return good.keys;
      throw thrown;
    }
  }

  async #read(organization: string): Promise<readonly OpenedKey[]> {
    const stored = await this.#parts.store.list(organization);
    return Promise.all(
      stored.map(async (key) => {
        const secret = await openSecret(this.#parts.wrapper, key, contextOf(key)).catch((thrown: unknown) => {
          if (thrown instanceof HlvmError && thrown.reason !== "key_wrapper_unavailable") return thrown;
          throw thrown;
        });
        const { id, team, provider, version } = key;
        return { id, team, provider, version, secret };
      }),
    );
  }

  /** The same keys keep their catalogue, and with it what is known of their limits and failures. */
  #built(name: string, keys: CallersKeys): Models {
    const models = this.#models.get(name) ?? this.#parts.build(keys);
    remember(this.#models, name, models, MOST_KEY_SETS);
    return models;
  }
}

function keysFor(keys: readonly OpenedKey[], provider: string, teams: readonly string[]): readonly OpenedKey[] {
  const ofProvider = keys.filter((key) => key.provider === provider);
  const ofTeams = ofProvider.filter(({ team }) => team !== "" && teams.includes(team));
  return ofTeams.length > 0 ? ofTeams : ofProvider.filter(({ team }) => team === "");
}

function secretsOf(keys: readonly OpenedKey[]): readonly string[] | HlvmError {
  const readable = keys.map(({ secret }) => secret).filter((secret) => typeof secret === "string");
  return readable.length > 0 ? readable : (keys[0]!.secret as HlvmError);
}

function unavailable(cause: unknown): HlvmError {
  return new HlvmError({
    code: "unavailable",
    reason: KEYS_UNAVAILABLE,
    message: "The keys of your organization cannot be read at the moment.",
    advice: "Try again in a moment; `hlvm status` tells whether the database is up.",
    cause,
  });
}

function remember<T>(map: Map<string, T>, name: string, value: T, most: number): void {
  map.delete(name);
  if (map.size >= most) map.delete(map.keys().next().value!);
  map.set(name, value);
}
