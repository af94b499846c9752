import { randomUUID } from "node:crypto";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { contextOf, type ProviderKey, type ProviderKeyStore } from "./provider-keys.ts";
import { sealSecret, type KeyWrapper } from "./sealed-secret.ts";

const SHOWN_OF_KEY = 4;
/** Of a shorter key its end would tell too much. */
const SHORTEST_SHOWN_KEY = 20;
const DEFAULT_NAME = "default";

export interface KeyPorts {
  readonly store: ProviderKeyStore;
  readonly wrapper: KeyWrapper;
  /** What keys can be given for here. */
  readonly providers: readonly string[];
  /** Called when an organization's keys have changed. */
  readonly onChange: (organization: string) => void;
}

/** Who changes a key. */
export interface KeyChanger {
  readonly organization: string;
  readonly id: string;
}

export interface GivenKey {
  readonly provider: string;
  readonly team: string;
  readonly name: string;
  readonly secret: string;
}

/** @throws HlvmError `keys_not_taken`, `key_malformed`, `key_exists` */
export async function addKey({ store, wrapper, providers, onChange }: KeyPorts, by: KeyChanger, given: GivenKey): Promise<ProviderKey> {
  const { provider, team, secret } = given;
  if (!providers.includes(provider)) throw notTaken(provider, providers);
  demandKey(secret);
  const key = { id: randomUUID(), organization: by.organization, team, provider, name: given.name.trim() || DEFAULT_NAME };
  const sealed = await sealSecret(wrapper, secret, contextOf(key));
  const added = await store.insert({ ...key, ...sealed, ending: endingOf(secret), changedBy: by.id });
  if (added === undefined) throw exists(key);
  onChange(by.organization);
  return added;
}

/** @throws HlvmError `key_malformed`, `key_not_found` */
export async function rotateKey({ store, wrapper, onChange }: KeyPorts, by: KeyChanger, id: string, secret: string): Promise<ProviderKey> {
  demandKey(secret);
  const found = await store.find(by.organization, id);
  if (found === undefined) throw notFound(id);
  const sealed = await sealSecret(wrapper, secret, contextOf(found));
  const rotated = await store.replace(by.organization, id, { ...sealed, ending: endingOf(secret), changedBy: by.id });
  if (rotated === undefined) throw notFound(id);
  onChange(by.organization);
  return rotated;
}

/** @throws HlvmError `key_not_found` */
export async function removeKey({ store, onChange }: KeyPorts, by: KeyChanger, id: string): Promise<void> {
  if (!(await store.remove(by.organization, id))) throw notFound(id);
  onChange(by.organization);
}

export function endingOf(secret: string): string {
  return secret.length < SHORTEST_SHOWN_KEY ? "" : secret.slice(-SHOWN_OF_KEY);
}

/** Never with the secret in its words. */
function demandKey(secret: string): void {
  if (/^[\x21-\x7e]+$/.test(secret)) return;
  throw new HlvmError({
    code: "invalid_argument",
    reason: "key_malformed",
    message: "The key has a character that no header takes, a line break or a blank perhaps.",
    advice: "Give the key alone, as the provider shows it.",
  });
}

function notTaken(provider: string, providers: readonly string[]): HlvmError {
  const isCompatible = provider === "openai-compatible";
  return new HlvmError({
    code: "invalid_argument",
    reason: "keys_not_taken",
    message: `There are no keys to give for ${provider} here.`,
    advice: isCompatible ? "Set HLVM_OPENAI_COMPATIBLE_URL first: it says where that is." : `Take one of ${providers.join(", ")}.`,
  });
}

function exists({ provider, team, name }: Pick<ProviderKey, "provider" | "team" | "name">): HlvmError {
  const owner = team === "" ? "The organization" : `The team ${team}`;
  return new HlvmError({
    code: "already_exists",
    reason: "key_exists",
    message: `${owner} has a key "${name}" for ${provider}.`,
    advice: "Rotate it with `hlvm model key rotate ID`, or give this one another name with --name.",
  });
}

function notFound(id: string): HlvmError {
  return new HlvmError({
    code: "not_found",
    reason: "key_not_found",
    message: `There is no key ${id}.`,
    advice: "`hlvm model key list` shows what there is.",
  });
}
