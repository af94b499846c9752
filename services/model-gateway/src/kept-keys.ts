import { fileURLToPath } from "node:url";
import type { Log } from "@hlvm/log/create-log";
import { Database } from "@hlvm/postgres/database";
import { migrate } from "@hlvm/postgres/migrate";
import { PostgresProviderKeys } from "./adapters/keys/postgres-provider-keys.ts";
import type { Config } from "./config.ts";
import { CallersModels, type CallersKeys, type Models } from "./domain/keys/callers-models.ts";
import type { KeyPorts } from "./domain/keys/change-keys.ts";
import type { CataloguedProvider } from "./domain/model-catalogue.ts";
import { keyWrapper, providersWithKeys, withCallersKeys } from "./keyed-providers.ts";

const MIGRATIONS = fileURLToPath(new URL("../migrations", import.meta.url));

export interface KeptKeys {
  readonly models: CallersModels;
  readonly ports: KeyPorts;
  readonly close: () => Promise<void>;
}

export interface KeylessParts {
  readonly known: readonly CataloguedProvider[];
  /** By the gateway's own keys. */
  readonly own: Models;
  readonly modelsOf: (available: readonly CataloguedProvider[]) => Models;
  readonly log: Log;
}

/**
 * Keys of organizations and teams in the gateway's own database, and models by them.
 * @throws HlvmError `invalid_configuration` where nothing is there to encrypt them with
 */
export async function openKeptKeys(config: Config, { known, own, modelsOf, log }: KeylessParts): Promise<KeptKeys> {
  const wrapper = keyWrapper(config);
  const database = new Database(config.databaseUrl, log);
  await migrate(database, MIGRATIONS);
  const store = new PostgresProviderKeys(database);
  const providers = providersWithKeys(config);
  const build = (keys: CallersKeys): Models => modelsOf(withCallersKeys(known, config, keys));
  const models = new CallersModels({ own, store, wrapper, providers, build });
  const ports: KeyPorts = { store, wrapper, providers, onChange: (organization) => models.forget(organization) };
  return { models, ports, close: () => database.close() };
}
