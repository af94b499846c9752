import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { createLog } from "@hlvm/log/create-log";
import { freePorts } from "@hlvm/meilisearch-binary/free-ports";
import { databaseUrl, postgresPart, POSTGRES, type PostgresPlace } from "./adapters/postgres-part.ts";
import { findBwrap } from "./adapters/find-bwrap.ts";
import { keepHlvmFiles, keepLocalToken, keepSecrets } from "./adapters/hlvm-files.ts";
import { meilisearchPart } from "./adapters/meilisearch-part.ts";
import { servicePart } from "./adapters/service-process.ts";
import { SigningKeys } from "./adapters/signing-keys.ts";
import type { Notice } from "./adapters/private-file.ts";
import type { SupervisorConfig } from "./config.ts";
import type { Layer, Part } from "./domain/part.ts";
import { RESTART_POLICY } from "./domain/restart-policy.ts";
import { serviceEnvironment } from "./domain/service-environment.ts";
import { HEALTH_POLICY } from "./domain/watch-health.ts";
import { databaseName, serviceDatabases, WITH_DATABASE } from "./service-databases.ts";
import type { MeshPlan } from "./supervise.ts";

const LOOPBACK = "127.0.0.1";
const EDGE = "edge";

/** Where models are, and what they demand; for the model gateway alone. */
const PROVIDER_VARIABLES = [
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_BASE_URL",
  "OPENAI_API_KEY",
  "OPENAI_BASE_URL",
  "HLVM_OPENAI_COMPATIBLE_URL",
  "HLVM_OPENAI_COMPATIBLE_API_KEY",
  "HLVM_LLAMA_URLS",
  "HTTPS_PROXY",
  "HTTP_PROXY",
  "NO_PROXY",
  "NODE_USE_ENV_PROXY",
  "NODE_EXTRA_CA_CERTS",
];

/** The real mesh on this machine: files, keys, ports, and every part with what it has to know of the others. */
export async function planMesh(config: SupervisorConfig, notice: Notice): Promise<MeshPlan> {
  const files = keepHlvmFiles(config.directory, notice);
  const [keys, secrets, ports] = await Promise.all([
    SigningKeys.keep(files, notice),
    keepSecrets(files, WITH_DATABASE.map(databaseName), notice),
    freePorts(6),
    keepLocalToken(files, notice),
  ]);
  const [policyPort, memoryPort, modelGatewayPort, sandboxPort, orchestratorPort, searchPort] = ports as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];

  const postgres: PostgresPlace = { directory: files.data("postgres"), socketDirectory: files.sockets, logFile: files.logFile("postgres") };
  const databases = serviceDatabases(secrets.databasePasswords);
  const ownDatabase = (service: (typeof WITH_DATABASE)[number]): Record<string, string> => ({
    HLVM_DATABASE_URL: databaseUrl(postgres, databases[WITH_DATABASE.indexOf(service)]!),
  });
  const backs = {
    HLVM_POLICY_URL: url(policyPort),
    HLVM_MEMORY_URL: url(memoryPort),
    HLVM_MODEL_GATEWAY_URL: url(modelGatewayPort),
    HLVM_SANDBOX_URL: url(sandboxPort),
  };

  const service = (name: string, layer: Layer, port: number, decided: Record<string, string>, named: readonly string[] = []): Part =>
    servicePart({
      name,
      main: fileURLToPath(new URL(`../../${name}/src/main.ts`, import.meta.url)),
      logFile: files.logFile(name),
      port,
      layer,
      tokenFile: name === EDGE ? files.tokenFile : undefined,
      needs: decided.HLVM_DATABASE_URL === undefined ? [] : [POSTGRES],
      environment: serviceEnvironment(config.environment, named, {
        HLVM_DIR: files.directory,
        HLVM_HOST: LOOPBACK,
        HLVM_LOG_LEVEL: config.logLevel,
        HLVM_TOKEN_PUBLIC_KEYS: keys.tokenPublicKeys,
        ...decided,
      }),
    });

  return {
    edge: EDGE,
    edgeHost: config.edgeHost,
    tokenFile: files.tokenFile,
    controlSocket: join(files.sockets, "control.sock"),
    rotateKeys: () => keys.rotate(),
    policy: { restart: RESTART_POLICY, health: HEALTH_POLICY },
    parts: [
      postgresPart(postgres, databases, createLog("supervisor", config.logLevel)),
      meilisearchPart(
        { directory: files.data("meilisearch"), logFile: files.logFile("meilisearch"), port: searchPort },
        secrets.meilisearchMasterKey,
      ),
      service("policy", "back", policyPort, { ...ownDatabase("policy"), HLVM_GRANT_SIGNING_KEY: keys.signingKey("policy") }),
      service("memory", "back", memoryPort, {
        ...ownDatabase("memory"),
        HLVM_GRANT_PUBLIC_KEYS: keys.grantPublicKeys,
        HLVM_MEILISEARCH_URL: url(searchPort),
        HLVM_MEILISEARCH_KEY: secrets.meilisearchMasterKey,
      }),
      service("model-gateway", "back", modelGatewayPort, {}, PROVIDER_VARIABLES),
      service("sandbox", "back", sandboxPort, {
        ...ownDatabase("sandbox"),
        HLVM_GRANT_PUBLIC_KEYS: keys.grantPublicKeys,
        HLVM_SANDBOX_STATE_DIRECTORY: files.data("sandbox"),
        HLVM_SOCKET_DIR: files.sockets,
        ...findBwrap(files.directory, config.environment),
      }),
      service("orchestrator", "front", orchestratorPort, {
        ...ownDatabase("orchestrator"),
        HLVM_TOKEN_SIGNING_KEY: keys.signingKey("orchestrator"),
        ...backs,
      }),
      service(EDGE, "front", config.edgePort, {
        HLVM_HOST: config.edgeHost,
        HLVM_TOKEN_SIGNING_KEY: keys.signingKey("edge"),
        HLVM_LOCAL_TOKEN_FILE: files.tokenFile,
        HLVM_ORCHESTRATOR_URL: url(orchestratorPort),
        ...backs,
      }),
    ],
  };
}

function url(port: number): string {
  return `http://${LOOPBACK}:${port}`;
}
