import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { bundledMain } from "@hlvm/bundle/bundled-main";
import { createLog } from "@hlvm/log/create-log";
import { freePorts } from "@hlvm/meilisearch-binary/free-ports";
import { ALLOCATOR_TUNABLES } from "@hlvm/service/allocator-tunables";
import { nodeFlags } from "@hlvm/service/node-flags";
import { backUpMesh } from "./adapters/back-up-mesh.ts";
import { databaseUrl, postgresProcess, POSTGRES, type PostgresPlace } from "./adapters/postgres-process.ts";
import { findBwrap } from "./adapters/find-bwrap.ts";
import { keepHlvmFiles, keepLocalToken, keepSecrets } from "./adapters/hlvm-files.ts";
import { demoProvider } from "./adapters/demo-provider.ts";
import { meilisearchProcess } from "./adapters/meilisearch-process.ts";
import { serviceProcess } from "./adapters/service-process.ts";
import { SigningKeys } from "./adapters/signing-keys.ts";
import type { Notice } from "./adapters/private-file.ts";
import type { SupervisorConfig } from "./config.ts";
import type { Layer, ManagedProcess } from "./domain/managed-process.ts";
import { RESTART_POLICY } from "./domain/restart-policy.ts";
import { serviceEnvironment } from "./domain/service-environment.ts";
import { HEALTH_POLICY } from "./domain/watch-health.ts";
import { databaseName, serviceDatabases, WITH_DATABASE } from "./service-databases.ts";
import type { MeshPlan } from "./supervise.ts";

const LOOPBACK = "127.0.0.1";
const EDGE = "edge";
/** What `npm start` has built; without it there is no page, and everything else. */
const PAGE = fileURLToPath(new URL("../../web/dist", import.meta.url));

/** Where models are, and what they demand; for the model gateway alone. */
const PROVIDER_VARIABLES = [
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_BASE_URL",
  "OPENAI_API_KEY",
  "OPENAI_BASE_URL",
  "HLVM_OPENAI_COMPATIBLE_URL",
  "HLVM_OPENAI_COMPATIBLE_API_KEY",
  "HLVM_LLAMA_URLS",
  "HLVM_LLAMA_URLS_FILE",
  "HLVM_CLAUDE_CODE_TOKEN",
  "HLVM_LOCAL_URL",
  "HLVM_OLLAMA_URL",
  "HTTPS_PROXY",
  "HTTP_PROXY",
  "NO_PROXY",
  "NODE_USE_ENV_PROXY",
  "NODE_EXTRA_CA_CERTS",
];

/** Its tokens are no secrets, and it does not come by itself. */
const ORCHESTRATOR_VARIABLES = ["HLVM_OUTPUT_RESERVE_TOKENS"];

/** Of the edge in team mode; those that hold no secret come by themselves. */
const EMBEDDING_VARIABLES = ["HLVM_EMBEDDINGS_URL", "HLVM_EMBEDDINGS_KEY"];
const TEAM_VARIABLES = ["HLVM_OIDC_CLIENT_SECRET", "HLVM_PUBLIC_URL"];

interface PlannedService {
  /** Whose main module it runs. */
  readonly service: string;
  /** Its service's, where there is one of it. */
  readonly name?: string;
  readonly layer: Layer;
  readonly decided: Readonly<Record<string, string>>;
  readonly named?: readonly string[];
}

/** How many processes there are of each service behind the edge, which has the public port to itself. */
const replicasOf = (replicas: number) => ({
  policy: replicas,
  memory: replicas,
  "model-gateway": replicas,
  sandbox: replicas,
  orchestrator: replicas,
});
type BehindEdge = keyof ReturnType<typeof replicasOf>;

/** The real mesh on this machine: files, keys, ports, and every process with what it has to know of the others. */
export async function planMesh(config: SupervisorConfig, notice: Notice): Promise<MeshPlan> {
  const files = keepHlvmFiles(config.directory, notice);
  const replicas = replicasOf(config.replicas);
  const [keys, secrets, [searchPort, providerPort, teamPort, ...free]] = await Promise.all([
    SigningKeys.keep(files, notice),
    keepSecrets(files, WITH_DATABASE.map(databaseName), notice),
    freePorts(3 + Object.values(replicas).reduce((sum, count) => sum + count, 0)) as Promise<[number, number, number, ...number[]]>,
    keepLocalToken(files, notice),
  ]);
  // A page of a team has one address, which the identity provider knows too.
  const edgePort = config.team === "demo" && config.edgePort === 0 ? teamPort : config.edgePort;
  const demo =
    config.team === "demo" ? demoProvider({ port: providerPort, edgePort, logFile: files.logFile("identity-provider") }) : undefined;
  const ports = {} as Record<BehindEdge, readonly number[]>;
  for (const name of Object.keys(replicas) as BehindEdge[]) ports[name] = free.splice(0, replicas[name]);

  const postgres: PostgresPlace = { directory: files.data("postgres"), socketDirectory: files.sockets, logFile: files.logFile("postgres") };
  const databases = serviceDatabases(secrets.databasePasswords);
  const ownDatabase = (service: (typeof WITH_DATABASE)[number]): Record<string, string> => ({
    HLVM_DATABASE_URL: databaseUrl(postgres, databases[WITH_DATABASE.indexOf(service)]!),
  });
  const backs = {
    HLVM_POLICY_URL: urlOf(ports.policy),
    HLVM_MEMORY_URL: urlOf(ports.memory),
    HLVM_MODEL_GATEWAY_URL: urlOf(ports["model-gateway"]),
    HLVM_SANDBOX_URL: urlOf(ports.sandbox),
  };

  const serviceOn = (port: number, { service, name = service, layer, decided, named = [] }: PlannedService): ManagedProcess =>
    serviceProcess({
      name,
      main: bundledMain(fileURLToPath(new URL(`../../${service}/src/main.ts`, import.meta.url))),
      nodeFlags: nodeFlags(service),
      logFile: files.logFile(name),
      port,
      layer,
      tokenFile: service === EDGE ? files.tokenFile : undefined,
      needs: decided.HLVM_DATABASE_URL === undefined ? [] : [POSTGRES],
      environment: serviceEnvironment(config.environment, named, {
        HLVM_DIR: files.directory,
        HLVM_HOST: LOOPBACK,
        HLVM_LOG_LEVEL: config.logLevel,
        HLVM_TOKEN_PUBLIC_KEYS: keys.tokenPublicKeys,
        ...decided,
      }),
    });
  /** One process a replica: `policy` where there is one, `policy-1` and `policy-2` where there are two. */
  const replicated = (
    service: BehindEdge,
    layer: Layer,
    decided: Record<string, string>,
    named: readonly string[] = [],
  ): ManagedProcess[] =>
    ports[service].map((port, index) => {
      const name = ports[service].length === 1 ? service : `${service}-${index + 1}`;
      return serviceOn(port, { service, name, layer, decided: { ...decided, HLVM_REPLICA_NAME: name }, named });
    });

  return {
    edge: EDGE,
    edgeHost: config.edgeHost,
    tokenFile: files.tokenFile,
    controlSocket: join(files.sockets, "control.sock"),
    rotateKeys: () => keys.rotate(),
    backUp: (folder) => backUpMesh(folder, files, postgres),
    policy: { restart: RESTART_POLICY, health: HEALTH_POLICY },
    processes: [
      postgresProcess(postgres, databases, createLog("supervisor", config.logLevel)),
      meilisearchProcess(
        { directory: files.data("meilisearch"), logFile: files.logFile("meilisearch"), port: searchPort },
        secrets.meilisearchMasterKey,
      ),
      ...replicated("policy", "back", { ...ownDatabase("policy"), HLVM_GRANT_SIGNING_KEY: keys.signingKey("policy") }),
      ...replicated(
        "memory",
        "back",
        {
          ...ownDatabase("memory"),
          HLVM_GRANT_PUBLIC_KEYS: keys.grantPublicKeys,
          HLVM_MEILISEARCH_URL: `http://${LOOPBACK}:${searchPort}`,
          HLVM_MEILISEARCH_KEY: secrets.meilisearchMasterKey,
        },
        EMBEDDING_VARIABLES,
      ),
      ...replicated(
        "model-gateway",
        "back",
        {
          ...ownDatabase("model-gateway"),
          ...ALLOCATOR_TUNABLES,
          HLVM_LLAMA_REPLICAS: String(replicas["model-gateway"]),
          HLVM_KEY_ENCRYPTION_KEYS: secrets.keyEncryptionKeys,
          HLVM_RESUME_KEY: secrets.resumeKey,
        },
        PROVIDER_VARIABLES,
      ),
      ...replicated("sandbox", "back", {
        ...ownDatabase("sandbox"),
        HLVM_GRANT_PUBLIC_KEYS: keys.grantPublicKeys,
        HLVM_SANDBOX_STATE_DIRECTORY: files.data("sandbox"),
        HLVM_SOCKET_DIR: files.sockets,
        HLVM_SANDBOX_REPLICAS_ON_MACHINE: String(replicas.sandbox),
        ...findBwrap(files.directory, config.environment),
      }),
      ...replicated(
        "orchestrator",
        "front",
        { ...ownDatabase("orchestrator"), HLVM_TOKEN_SIGNING_KEY: keys.signingKey("orchestrator"), ...backs },
        ORCHESTRATOR_VARIABLES,
      ),
      ...(demo === undefined ? [] : [demo.process]),
      serviceOn(edgePort, {
        service: EDGE,
        layer: "front",
        named: TEAM_VARIABLES,
        decided: {
          HLVM_HOST: config.edgeHost,
          HLVM_TOKEN_SIGNING_KEY: keys.signingKey("edge"),
          HLVM_LOCAL_TOKEN_FILE: files.tokenFile,
          ...(existsSync(join(PAGE, "index.html")) ? { HLVM_WEB_DIR: PAGE } : {}),
          HLVM_ORCHESTRATOR_URL: urlOf(ports.orchestrator),
          ...backs,
          ...demo?.edgeEnvironment,
        },
      }),
    ],
  };
}

/** One server as everybody knows it; several in the form that has `createMeshTransport` take them in turn. */
function urlOf(ports: readonly number[]): string {
  const addresses = ports.map((port) => `${LOOPBACK}:${port}`);
  return addresses.length === 1 ? `http://${addresses[0]}` : `ipv4:${addresses.join(",")}`;
}
