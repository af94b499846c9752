import { mkdirSync } from "node:fs";
import { readConfig } from "@hlvm/config/read-config";
import { GrantGate } from "@hlvm/grant/grant-gate";
import { readPublicKeys } from "@hlvm/identity/public-keys";
import { TokenVerifier } from "@hlvm/identity/token-verifier";
import { SandboxService } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { connectionLimits } from "@hlvm/rpc/server/connection-limits";
import { startRpcServer } from "@hlvm/rpc/start-rpc-server";
import { runService } from "@hlvm/service/run-service";
import { closeInherited } from "../runner/close-inherited.ts";
import { BubblewrapIsolation } from "./adapters/bubblewrap/bubblewrap-isolation.ts";
import { findBubblewrap } from "./adapters/bubblewrap/find-bubblewrap.ts";
import { FileJournal } from "./adapters/file-journal.ts";
import { findCapacity } from "./adapters/limits/find-capacity.ts";
import { findLimits } from "./adapters/limits/find-limits.ts";
import { LocalFolders } from "./adapters/local-folders.ts";
import { knobs } from "./config.ts";
import { Sessions } from "./domain/sessions.ts";
import { ToolExecutor } from "./domain/tool-executor.ts";
import { routes } from "./rpc/routes.ts";

/** The standard ones, and the one on which its starter is told that it is up. */
const LAST_OWN_DESCRIPTOR = 3;
const PRUNE_EVERY_MILLISECONDS = 60 * 60 * 1_000;

await runService("sandbox", async (log, environment) => {
  closeInherited(LAST_OWN_DESCRIPTOR);
  const config = readConfig(knobs, environment);
  const tokens = new TokenVerifier("sandbox", readPublicKeys(config.tokenPublicKeys));
  const gate = new GrantGate(readPublicKeys(config.grantPublicKeys));
  mkdirSync(config.stateDirectory, { recursive: true, mode: 0o700 });

  const bubblewrap = await findBubblewrap(config.bubblewrap, environment.PATH ?? "");
  const limits = findLimits(config.limits, process.getuid?.() ?? 0);
  const isolation = await BubblewrapIsolation.open({ ...config, bubblewrap, limits, log });
  const journal = await FileJournal.open(config.stateDirectory, log);
  const prune = (): Promise<void> => journal.prune().catch((cause: unknown) => log.warn({ err: cause }, "receipts could not be pruned"));
  setInterval(() => void prune(), PRUNE_EVERY_MILLISECONDS).unref();
  const { stateDirectory, directory, socketDirectory, tokenPublicKeys, grantPublicKeys } = config;
  const own = [stateDirectory, directory, socketDirectory, tokenPublicKeys, grantPublicKeys].filter((path) => path !== "");
  const capacity = findCapacity(config.sandboxes);
  const sessions = new Sessions({
    isolation,
    folders: new LocalFolders(own),
    journal,
    maximumSandboxes: capacity.sessions,
    idleMilliseconds: config.idleSeconds * 1_000,
    log,
  });
  const executor = new ToolExecutor(sessions, gate);

  const server = await startRpcServer({
    host: config.host,
    port: config.port,
    limits: connectionLimits(config.connectionAgeSeconds),
    log,
    routes: (router) => routes(router, { sessions, executor, isolation, capacity: capacity.detail }),
    services: [SandboxService.typeName],
    authenticate: tokens,
  });
  return {
    port: server.port,
    close: async () => {
      await Promise.all([sessions.closeAll(), server.close()]);
      await isolation.close();
    },
  };
});
