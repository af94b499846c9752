import { randomBytes } from "node:crypto";
import type { Model } from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { Models, ModelTask } from "../loop/ports.ts";
import { RunSecrets } from "../secrets/run-secrets.ts";

/** What the gateway looks at, and a little more. */
const LONGEST_TASK = 16_384;

/**
 * The concrete model for a run. What is asked goes along only where it decides, for `auto` and routes, and without what looks like a
 * secret; an agent's model has to take tools then.
 */
export async function resolveModel(models: Models, model: string, { task, needs }: ModelTask, signal: AbortSignal): Promise<Model> {
  if (model !== "auto" && !model.startsWith("route/")) return models.resolve(model, signal, { task: "", needs });
  const shown = await new RunSecrets(randomBytes(32), []).redactInTurns(task);
  const cut = shown.slice(0, LONGEST_TASK).replace(/[\uD800-\uDBFF]$/, "");
  return models.resolve(model, signal, { task: cut, needs: { ...needs, tools: true } });
}
