import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient, type CallOptions, type Client } from "@connectrpc/connect";
import { startPostgres } from "@hlvm/embedded-postgres/start-postgres";
import { createSigningKey, signingKeyOf } from "@hlvm/identity/signing-key";
import { TokenMinter } from "@hlvm/identity/token-minter";
import { Database } from "@hlvm/postgres/database";
import { migrate } from "@hlvm/postgres/migrate";
import { MemoryService } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import type { StartMessage } from "@hlvm/service/run-service";
import { testLog } from "@hlvm/testing/test-log";
import { testPrincipal } from "@hlvm/testing/test-identity";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { repositoryRoot } from "../e2e/test-mesh.ts";

const MEMORY = join(repositoryRoot, "services", "memory");
/** Nothing listens there. */
const NOWHERE = { url: "http://127.0.0.1:1", key: "none" };

/** The service as a process of its own. */
export interface RunningMemory {
  readonly client: Client<typeof MemoryService>;
  /** Who asks: the test's person, or another one of the same organization. */
  readonly options: (principal?: string) => CallOptions;
  readonly stop: () => Promise<void>;
}

export interface MemoryStore {
  readonly database: Database;
  /** @param meilisearch left out: it is away */
  readonly start: (meilisearch?: { readonly url: string; readonly key: string }) => Promise<RunningMemory>;
  readonly destroy: () => Promise<void>;
}

/** A durable PostgreSQL with memory's tables, and the service over it, as a mesh has them. */
export async function createMemoryStore(): Promise<MemoryStore> {
  const directory = mkdtempSync(join(tmpdir(), "hlvm-memory-"));
  const postgres = await startPostgres({
    directory,
    socketDirectory: join(directory, "s"),
    logFile: join(directory, "postgres.log"),
    durable: true,
  });
  const database = new Database(postgres.url("postgres"), testLog);
  await migrate(database, join(MEMORY, "migrations"));
  const { privateJwk, publicJwk } = await createSigningKey("edge");
  const keys = join(directory, "keys.json");
  writeFileSync(keys, JSON.stringify({ keys: [publicJwk] }));
  const key = signingKeyOf(privateJwk);
  const minter = new TokenMinter(() => key);
  return {
    database,
    start: async (meilisearch = NOWHERE) => {
      const { child, port } = await startProcess({
        HLVM_LOG_LEVEL: "error",
        HLVM_TOKEN_PUBLIC_KEYS: keys,
        HLVM_GRANT_PUBLIC_KEYS: keys,
        HLVM_DATABASE_URL: database.url,
        HLVM_MEILISEARCH_URL: meilisearch.url,
        HLVM_MEILISEARCH_KEY: meilisearch.key,
      });
      return {
        client: createClient(MemoryService, createMeshTransport(`http://127.0.0.1:${port}`)),
        options: (id = testPrincipal.id) => ({ headers: { authorization: `Bearer ${minter.mint({ ...testPrincipal, id }, "memory")}` } }),
        stop: async () => {
          const exited = once(child, "exit");
          child.kill("SIGTERM");
          await exited;
        },
      };
    },
    destroy: async () => {
      await database.close();
      await postgres.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function startProcess(environment: NodeJS.ProcessEnv): Promise<{ child: ChildProcess; port: number }> {
  const child = fork(join(MEMORY, "src", "main.ts"), { env: { ...process.env, ...environment }, execArgv: [] });
  const [message] = (await once(child, "message")) as [StartMessage];
  if (message.kind !== "ready") throw new Error(JSON.stringify(message));
  return { child, port: message.port };
}
