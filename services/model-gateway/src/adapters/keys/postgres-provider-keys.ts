import type { Database } from "@hlvm/postgres/database";
import type { NewKey, NewSecret, ProviderKeyStore, StoredKey } from "../../domain/keys/provider-keys.ts";

const COLUMNS =
  "key_id, organization, team, provider, name, wrapped_by, wrapped_key, sealed, ending, version, changed_by, created_at, rotated_at";

interface KeyRow extends Record<string, unknown> {
  key_id: string;
  organization: string;
  team: string;
  provider: string;
  name: string;
  wrapped_by: string;
  wrapped_key: Buffer;
  sealed: Buffer;
  ending: string;
  version: number;
  changed_by: string;
  created_at: Date;
  rotated_at: Date | null;
}

/** Keys of providers in PostgreSQL, as they were sealed. */
export class PostgresProviderKeys implements ProviderKeyStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  list(organization: string): Promise<readonly StoredKey[]> {
    const sql = `SELECT ${COLUMNS} FROM provider_key WHERE organization = $1 ORDER BY team, provider, name`;
    return this.#all(sql, [organization], "key-list");
  }

  async find(organization: string, id: string): Promise<StoredKey | undefined> {
    const sql = `SELECT ${COLUMNS} FROM provider_key WHERE organization = $1 AND key_id = $2`;
    return (await this.#all(sql, [organization, id], "key-find"))[0];
  }

  async insert({
    id,
    organization,
    team,
    provider,
    name,
    wrappedBy,
    wrappedKey,
    sealed,
    ending,
    changedBy,
  }: NewKey): Promise<StoredKey | undefined> {
    const sql = `INSERT INTO provider_key (key_id, organization, team, provider, name, wrapped_by, wrapped_key, sealed, ending, changed_by)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING RETURNING ${COLUMNS}`;
    const values = [id, organization, team, provider, name, wrappedBy, wrappedKey, sealed, ending, changedBy];
    return (await this.#all(sql, values, "key-insert"))[0];
  }

  async replace(
    organization: string,
    id: string,
    { wrappedBy, wrappedKey, sealed, ending, changedBy }: NewSecret,
  ): Promise<StoredKey | undefined> {
    const sql = `UPDATE provider_key SET wrapped_by = $3, wrapped_key = $4, sealed = $5, ending = $6, changed_by = $7, version = version + 1,
      rotated_at = now() WHERE organization = $1 AND key_id = $2 RETURNING ${COLUMNS}`;
    return (await this.#all(sql, [organization, id, wrappedBy, wrappedKey, sealed, ending, changedBy], "key-replace"))[0];
  }

  async remove(organization: string, id: string): Promise<boolean> {
    const sql = "DELETE FROM provider_key WHERE organization = $1 AND key_id = $2 RETURNING key_id";
    return (await this.#database.query(sql, [organization, id], "key-remove")).length > 0;
  }

  async #all(sql: string, values: readonly unknown[], name: string): Promise<StoredKey[]> {
    return (await this.#database.query<KeyRow>(sql, values, name)).map((row) => ({
      id: row.key_id,
      organization: row.organization,
      team: row.team,
      provider: row.provider,
      name: row.name,
      wrappedBy: row.wrapped_by,
      wrappedKey: row.wrapped_key,
      sealed: row.sealed,
      ending: row.ending,
      version: row.version,
      changedBy: row.changed_by,
      createdAt: row.created_at,
      rotatedAt: row.rotated_at ?? undefined,
    }));
  }
}
