import { fileURLToPath } from "node:url";
import { readPublicKeys } from "@hlvm/identity/public-keys";
import { TokenVerifier } from "@hlvm/identity/token-verifier";
import { ModelService } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { PoolService } from "@hlvm/proto/hlvm/model/v1/pool_pb";
import { ProviderKeyService } from "@hlvm/proto/hlvm/model/v1/provider_key_pb";
import { connectionLimits } from "@hlvm/rpc/server/connection-limits";
import { startRpcServer } from "@hlvm/rpc/start-rpc-server";
import { runService } from "@hlvm/service/run-service";
import { LocalProvider } from "./adapters/llama/local-provider.ts";
import { LlamaProvider } from "./adapters/llama/llama-provider.ts";
import { readPrices } from "./adapters/read-prices.ts";
import { readRoutes } from "./adapters/read-routes.ts";
import { llamaReplica, readGatewayConfig, resumeSettings } from "./config.ts";
import type { ModelCaller, Models } from "./domain/keys/callers-models.ts";
import { ModelCatalogue, type CataloguedProvider } from "./domain/model-catalogue.ts";
import { PermittedModels } from "./domain/permitted-models.ts";
import { PriceTable } from "./domain/price-table.ts";
import { Router } from "./domain/routing/router.ts";
import { openKeptKeys } from "./kept-keys.ts";
import { DEFAULT_ORDER, providers } from "./providers.ts";
import { providerKeyMethods } from "./rpc/provider-keys.ts";
import { ResumableAnswers } from "./rpc/resumable-answers.ts";
import { poolRoutes } from "./rpc/pool-routes.ts";
import { routes } from "./rpc/routes.ts";

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
  const kept = config.databaseUrl === "" ? undefined : await openKeptKeys(config, { known, own, modelsOf, log });
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
    await kept?.close();
  };
  return { port: server.port, close };
});
