import { fileURLToPath } from "node:url";
import { readPublicKeys } from "@hlvm/identity/public-keys";
import { TokenVerifier } from "@hlvm/identity/token-verifier";
import { ModelService } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { PoolService } from "@hlvm/proto/hlvm/model/v1/pool_pb";
import { connectionLimits } from "@hlvm/rpc/server/connection-limits";
import { startRpcServer } from "@hlvm/rpc/start-rpc-server";
import { runService } from "@hlvm/service/run-service";
import { LlamaProvider } from "./adapters/llama/llama-provider.ts";
import { readPrices } from "./adapters/read-prices.ts";
import { readRoutes } from "./adapters/read-routes.ts";
import { llamaReplica, readGatewayConfig } from "./config.ts";
import { ModelCatalogue } from "./domain/model-catalogue.ts";
import { PermittedModels } from "./domain/permitted-models.ts";
import { PriceTable } from "./domain/price-table.ts";
import { Router } from "./domain/routing/router.ts";
import { DEFAULT_ORDER, providers } from "./providers.ts";
import { poolRoutes } from "./rpc/pool-routes.ts";
import { routes } from "./rpc/routes.ts";

const PRICES = fileURLToPath(new URL("../prices.json", import.meta.url));

await runService("model-gateway", async (log, environment) => {
  const config = readGatewayConfig(environment);
  const prices = new PriceTable(readPrices(PRICES), config.pricesFile === "" ? [] : readPrices(config.pricesFile));
  const known = providers(config);
  const llama = known.map(({ provider }) => provider).find((provider) => provider instanceof LlamaProvider);
  const poolPorts = { pool: llama?.pool, replica: llamaReplica(config), log };
  const catalogue = new ModelCatalogue(known, config.defaultModel, DEFAULT_ORDER, new PermittedModels(config.allowedModels));
  const routable = known.filter(({ isApart }) => isApart !== true).map(({ name }) => name);
  const routesByName = config.routesFile === "" ? new Map() : readRoutes(config.routesFile, routable);
  const router = new Router({ catalogue, routes: routesByName, prices, defaultModel: config.defaultModel });
  return startRpcServer({
    host: config.host,
    port: config.port,
    limits: connectionLimits(config.connectionAgeSeconds),
    log,
    routes: (connect) => {
      routes({ catalogue, router, prices, log })(connect);
      poolRoutes(poolPorts)(connect);
    },
    services: [ModelService.typeName, PoolService.typeName],
    authenticate: new TokenVerifier("model-gateway", readPublicKeys(config.tokenPublicKeys)),
  });
});
