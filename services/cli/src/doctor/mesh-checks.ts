import { createClient } from "@connectrpc/connect";
import type { ServiceState } from "@hlvm/mesh/mesh-state";
import { ModelService, type Model } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { SandboxService } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { fromConnectError } from "@hlvm/connect-errors/from-connect-error";
import type { MeshConnection } from "../mesh/connect-mesh.ts";
import { processTrouble } from "../mesh/process-trouble.ts";
import { fail, ok, warn, type Check } from "./check.ts";
import { tokenFileCheck } from "./machine-checks.ts";

/** What can be told only by asking a mesh that is up. */
export async function meshChecks({ transport, state }: MeshConnection): Promise<Check[]> {
  const sandbox = createClient(SandboxService, transport);
  const models = createClient(ModelService, transport);
  const [isolation, choice] = await Promise.all([
    guarded("isolation", async () => isolationChecks(await sandbox.describeIsolation({}))),
    guarded("models", async () => modelChecks((await models.listModels({})).models)),
  ]);
  return [...(state === undefined ? [] : [tokenFileCheck(state.tokenFile), ...state.services.map(partCheck)]), ...isolation, ...choice];
}

async function guarded(name: string, check: () => Promise<Check[]>): Promise<Check[]> {
  try {
    return await check();
  } catch (thrown) {
    const error = fromConnectError(thrown);
    return [fail(name, error.message, error.advice)];
  }
}

function isolationChecks(isolation: {
  driver: string;
  driverVersion: string;
  features: { name: string; active: boolean; detail: string }[];
}): Check[] {
  const { driver, driverVersion, features } = isolation;
  return [
    ok("isolation", `${driver} ${driverVersion}`.trim()),
    ...features.map(({ name, active, detail }) => (active ? ok(name, detail) : warn(name, "not active", detail))),
  ];
}

function modelChecks(models: readonly Model[]): Check[] {
  const chosen = models.find((model) => model.default);
  if (chosen === undefined)
    return [
      fail("model", "there is no default model", "Set ANTHROPIC_API_KEY, OPENAI_API_KEY or HLVM_LLAMA_URLS, and start the mesh again."),
    ];
  if (!chosen.available) return [fail("model", `${chosen.id} is not available`, chosen.advice)];
  if (chosen.provider !== "demo") return [ok("model", chosen.id)];
  return [
    warn(
      "model",
      `${chosen.id}, which follows fixed rules`,
      "For a real one set ANTHROPIC_API_KEY, OPENAI_API_KEY or HLVM_LLAMA_URLS, and start the mesh again.",
    ),
  ];
}

/** Meilisearch alone may be down. */
function partCheck(service: ServiceState): Check {
  const { name, state, pid, logFile } = service;
  if (state === "up") return ok(name, `up, process ${pid}`);
  const detail = processTrouble(service);
  if (name === "Meilisearch") return warn(name, detail, `Until it is up, memory searches in PostgreSQL. Its log says why: ${logFile}`);
  return fail(name, detail, `It is tried again by itself, for ever. Its log says why: ${logFile}`);
}
