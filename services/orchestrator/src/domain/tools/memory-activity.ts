import { eventPayload, type EventPayload } from "../log/event-payload.ts";
import type { RunSecrets } from "../secrets/run-secrets.ts";
import type { ReadyCall } from "./prepare-call.ts";

/** What people are shown of a memory tool that changed something. */
export function memoryActivity({ definition, value }: ReadyCall, secrets: RunSecrets): EventPayload | undefined {
  if (definition.executor !== "memory" || definition.sideEffects === "read-only" || typeof value.text !== "string") return undefined;
  return eventPayload("memoryActivity", { written: [secrets.redact(value.text)] });
}
