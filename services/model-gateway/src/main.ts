import { fileURLToPath } from "node:url";
import { readPublicKeys } from "@hlvm/identity/public-keys";
import { TokenVerifier } from "@hlvm/identity/token-verifier";
import { ModelService } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { PoolService } from "@hlvm/proto/hlvm/model/v1/pool_pb";
import { ProviderKeyService } from "@hlvm/proto/hlvm/model/v1/provider_key_pb";
import { Database } from "@hlvm/postgres/database";
import { migrate } from "@hlvm/postgres/migrate";
import type { Log } from "@hlvm/log/create-log";
import { connectionLimits } from "@hlvm/rpc/server/connection-limits";
import { startRpcServer } from "@hlvm/rpc/start-rpc-server";
import { runService } from "@hlvm/service/run-service";
import { PostgresProviderKeys } from "./adapters/keys/postgres-provider-keys.ts";
import { LocalProvider } from "./adapters/llama/local-provider.ts";
import { LlamaProvider } from "./adapters/llama/llama-provider.ts";
import { readPrices } from "./adapters/read-prices.ts";
import { readRoutes } from "./adapters/read-routes.ts";
import { llamaReplica, readGatewayConfig, resumeSettings, type Config } from "./config.ts";
import { CallersModels, type CallersKeys, type ModelCaller, type Models } from "./domain/keys/callers-models.ts";
import type { KeyPorts } from "./domain/keys/change-keys.ts";
import { ModelCatalogue, type CataloguedProvider } from "./domain/model-catalogue.ts";
import { PermittedModels } from "./domain/permitted-models.ts";
import { PriceTable } from "./domain/price-table.ts";
import { Router } from "./domain/routing/router.ts";
import { keyWrapper, providersWithKeys, withCallersKeys } from "./keyed-providers.ts";
import { DEFAULT_ORDER, providers } from "./providers.ts";
import { providerKeyMethods } from "./rpc/provider-keys.ts";
import { ResumableAnswers } from "./rpc/resumable-answers.ts";
import { poolRoutes } from "./rpc/pool-routes.ts";
import { routes } from "./rpc/routes.ts";

const MIGRATIONS = fileURLToPath(new URL("../migrations", import.meta.url));
const PRICES = fileURLToPath(new URL("../prices.json", import.meta.url));
/** For running answers to end when the gateway stops. */
const GRACE_MILLISECONDS = 5_000;

await runService("model-gateway", async (log, environment) => {
  const config = readGatewayConfig(environment);
  const prices = new PriceTable(readPrices(PRICES), config.pricesFile === "" ? [] : readPrices(config.pricesFile));
  const known = providers(config);
  const llama = known.map(({ provider }) => provider).find((provider) => provider instanceof LlamaProvider);
  const poolPorts = { pool: llama?.pool, replica: llamaReplica(config), log };
  const routable = known.filter(({ isApart }) => isApart !== true).map(({ name }) => name);
  const routesByName = config.routesFile === "" ? new Map() : readRoutes(config.routesFile, routable);
  const modelsOf = (available: readonly CataloguedProvider[]): Models => {
    const catalogue = new ModelCatalogue(available, config.defaultModel, DEFAULT_ORDER, new PermittedModels(config.allowedModels));
    return { catalogue, router: new Router({ catalogue, routes: routesByName, prices, defaultModel: config.defaultModel }) };
  };
  const own = modelsOf(known);
  const kept = config.databaseUrl === "" ? undefined : await openKeys(config, known, own, modelsOf, log);
  const models = (caller: ModelCaller): Promise<Models> => kept?.models.of(caller) ?? Promise.resolve(own);
  const parts = { models, prices, log };
  const resumable = new ResumableAnswers(parts, resumeSettings(config));
  for (const { provider } of known) if (provider instanceof LlamaProvider || provider instanceof LocalProvider) void provider.sweep();
  const server = await startRpcServer({
    host: config.host,
    port: config.port,
    limits: connectionLimits(config.connectionAgeSeconds),
    log,
    routes: (connect) => {
      routes(parts, resumable)(connect);
      poolRoutes(poolPorts)(connect);
      connect.service(ProviderKeyService, providerKeyMethods(kept?.ports));
    },
    services: [ModelService.typeName, PoolService.typeName, ProviderKeyService.typeName],
    authenticate: new TokenVerifier("model-gateway", readPublicKeys(config.tokenPublicKeys)),
    graceMilliseconds: GRACE_MILLISECONDS,
  });
  const close = async (): Promise<void> => {
    await server.close();
    resumable.close();
    await kept?.database.close();
  };
  return { port: server.port, close };
});

/** Keys of organizations and teams, and models by them. */
async function openKeys(
  config: Config,
  known: readonly CataloguedProvider[],
  own: Models,
  modelsOf: (available: readonly CataloguedProvider[]) => Models,
  log: Log,
) {
  const wrapper = keyWrapper(config);
  const database = new Database(config.databaseUrl, log);
  await migrate(database, MIGRATIONS);
  const store = new PostgresProviderKeys(database);
  const providers = providersWithKeys(config);
  const build = (keys: CallersKeys): Models => modelsOf(withCallersKeys(known, config, keys));
  const models = new CallersModels({ own, store, wrapper, providers, build });
  const ports: KeyPorts = { store, wrapper, providers, onChange: (organization) => models.forget(organization) };
  return { database, models, ports };
}
