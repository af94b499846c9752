import { mkdirSync } from "node:fs";
import { isIPv6 } from "node:net";
import { join } from "node:path";
import { readConfig } from "@hlvm/config/read-config";
import { GrantGate } from "@hlvm/grant/grant-gate";
import { readPublicKeys } from "@hlvm/identity/public-keys";
import { TokenVerifier } from "@hlvm/identity/token-verifier";
import { Database } from "@hlvm/postgres/database";
import { migrate } from "@hlvm/postgres/migrate";
import { SandboxService } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { connectionLimits } from "@hlvm/rpc/server/connection-limits";
import { startRpcServer } from "@hlvm/rpc/start-rpc-server";
import { runService } from "@hlvm/service/run-service";
import { Sweeper } from "@hlvm/service/sweeper";
import { closeInherited } from "../runner/close-inherited.ts";
import { BubblewrapIsolation } from "./adapters/bubblewrap/bubblewrap-isolation.ts";
import { findBubblewrap } from "./adapters/bubblewrap/find-bubblewrap.ts";
import { SessionHomes } from "./adapters/bubblewrap/session-homes.ts";
import { FileJournal } from "./adapters/file-journal.ts";
import { findCapacity } from "./adapters/limits/find-capacity.ts";
import { findLimits } from "./adapters/limits/find-limits.ts";
import { PostgresPlacements } from "./adapters/postgres/postgres-placements.ts";
import { stateVolume } from "./adapters/state-volume.ts";
import { settings } from "./config.ts";
import { Placements } from "./domain/placement/placements.ts";
import { ReplicaLease } from "./domain/placement/replica-lease.ts";
import { Sessions } from "./domain/sessions.ts";
import { ToolExecutor } from "./domain/tool-executor.ts";
import { openPreparedWorkspaces } from "./open-prepared-workspaces.ts";
import { routes } from "./rpc/routes.ts";
import { workspaceOwner } from "./rpc/workspace-owner.ts";

const MIGRATIONS = join(import.meta.dirname, "../migrations");
/** The standard ones, and the one on which its starter is told that it is up. */
const LAST_OWN_DESCRIPTOR = 3;
/** One without a sandbox is a few kilobytes. */
const MAXIMUM_OPEN_SESSIONS = 1_000;
const PRUNE_EVERY_MILLISECONDS = 60 * 60 * 1_000;
const CHECKPOINTS_KEPT_MILLISECONDS = 30 * 24 * 60 * 60 * 1_000;
/** Of the time in which a service has to end; callers try again for longer than this. */
const DRAIN_MILLISECONDS = 3_000;

await runService("sandbox", async (log, environment) => {
  closeInherited(LAST_OWN_DESCRIPTOR);
  const config = readConfig(settings, environment);
  const tokens = new TokenVerifier("sandbox", readPublicKeys(config.tokenPublicKeys));
  const grantKeys = readPublicKeys(config.grantPublicKeys);
  const gate = new GrantGate(grantKeys);
  const { stateDirectory, directory, socketDirectory, tokenPublicKeys, grantPublicKeys } = config;
  const ownDirectory = join(stateDirectory, "replicas", config.replicaName);
  mkdirSync(ownDirectory, { recursive: true, mode: 0o700 });

  const database = new Database(config.databaseUrl, log);
  const migrated = migrate(database, MIGRATIONS);
  migrated.catch(() => undefined);
  const bubblewrap = await findBubblewrap(config.bubblewrap, environment.PATH ?? "");
  const limits = findLimits(config.limits, process.getuid?.() ?? 0);
  const checkpoints = new SessionHomes(join(stateDirectory, "checkpoints"));
  const isolation = await BubblewrapIsolation.open({
    ...config,
    stateDirectory: ownDirectory,
    homesDirectory: join(stateDirectory, "homes"),
    checkpoints,
    bubblewrap,
    limits,
    log,
  });
  const journal = FileJournal.open(stateDirectory, log);
  const store = new PostgresPlacements(database, { name: config.replicaName, volume: stateVolume(stateDirectory) });
  const lease = new ReplicaLease(store, log);
  const own = [stateDirectory, directory, socketDirectory, tokenPublicKeys, grantPublicKeys].filter((path) => path !== "");
  const capacity = findCapacity(config.sandboxes, config.replicasOnMachine);
  const placements = new Placements(store, lease);
  const { prepared, copied, folders } = openPreparedWorkspaces(config, { isolation, placements, protectedPaths: own });
  const sessions = new Sessions({
    isolation,
    folders,
    journal,
    placements,
    maximumOpen: MAXIMUM_OPEN_SESSIONS,
    maximumSandboxes: capacity.sessions,
    idleMilliseconds: config.idleSeconds * 1_000,
    log,
  });
  lease.onLost(() => sessions.abandon());
  const executor = new ToolExecutor(sessions, gate);
  const domain = { sessions, prepared, copied, placements, executor, isolation, ownerOf: workspaceOwner(grantKeys) };

  const { host } = config;
  const server = await startRpcServer({
    host,
    port: config.port,
    limits: connectionLimits(config.connectionAgeSeconds),
    log,
    routes: (router) => routes(router, { ...domain, capacity: capacity.detail }),
    services: [SandboxService.typeName],
    authenticate: tokens,
  });
  await migrated;
  await lease.start(config.replicaAddress || `http://${isIPv6(host) ? `[${host}]` : host}:${server.port}`);
  const prune = async (): Promise<void> => {
    const heldElsewhere = await store.heldElsewhere();
    await prepared.prune(heldElsewhere);
    await store.forgetExpired(await journal.prune(heldElsewhere));
    await checkpoints.prune(CHECKPOINTS_KEPT_MILLISECONDS);
  };
  prune().catch((cause: unknown) => log.warn({ err: cause }, "receipts, workspaces and checkpoints could not be pruned"));
  const pruning = new Sweeper(prune, PRUNE_EVERY_MILLISECONDS, log);
  return {
    port: server.port,
    close: async () => {
      await sessions.drain(DRAIN_MILLISECONDS);
      const closed = server.close();
      await sessions.closeAll();
      await lease.release();
      await closed;
      await isolation.close();
      await pruning.close();
      await database.close();
    },
  };
});
