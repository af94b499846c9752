import type { SealedSecret } from "./sealed-secret.ts";

/** A key as administrators see it. */
export interface ProviderKey {
  /** UUID. */
  readonly id: string;
  readonly organization: string;
  /** Empty: of the whole organization. */
  readonly team: string;
  readonly provider: string;
  readonly name: string;
  readonly ending: string;
  readonly version: number;
  readonly changedBy: string;
  readonly createdAt: Date;
  readonly rotatedAt: Date | undefined;
}

export type StoredKey = ProviderKey & SealedSecret;
export type NewKey = Omit<StoredKey, "version" | "createdAt" | "rotatedAt">;
export type NewSecret = SealedSecret & Pick<ProviderKey, "ending" | "changedBy">;

/** Where keys are kept. Whoever asks names the organization: no other's are found. */
export interface ProviderKeyStore {
  /** In the order of teams, providers and names. */
  list(organization: string): Promise<readonly StoredKey[]>;
  find(organization: string, id: string): Promise<StoredKey | undefined>;
  /** @returns undefined where one of this name is there already */
  insert(key: NewKey): Promise<StoredKey | undefined>;
  replace(organization: string, id: string, secret: NewSecret): Promise<StoredKey | undefined>;
  /** @returns whether it was there */
  remove(organization: string, id: string): Promise<boolean>;
}

/** What a secret is sealed for: in another row it cannot be read. */
export function contextOf({ organization, team, provider, id }: Pick<ProviderKey, "organization" | "team" | "provider" | "id">): string {
  return JSON.stringify([organization, team, provider, id]);
}
