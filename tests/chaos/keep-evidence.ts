import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { toJson } from "@bufbuild/protobuf";
import { EventSchema } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { CheckedRun } from "./check-run.ts";
import type { DrivenRun } from "./drive-run.ts";

/**
 * Leaves the logs of all parts, and log, files and findings of each run that failed.
 * @param directory the HLVM directory of the mesh
 */
export function keepEvidence(directory: string, folder: string, driven: readonly DrivenRun[], checked: readonly CheckedRun[]): void {
  cpSync(join(directory, "logs"), join(folder, "logs"), { recursive: true });
  for (const [index, { failures, log }] of checked.entries()) {
    if (failures.length === 0) continue;
    const { number, workspace, watchesLost } = driven[index]!;
    const lines = log.map((event) => JSON.stringify(toJson(EventSchema, event)));
    writeFileSync(join(folder, `run-${number}.ndjson`), `${lines.join("\n")}\n`);
    writeFileSync(join(folder, `run-${number}.json`), JSON.stringify({ failures, watchesLost }, undefined, 2));
    if (workspace !== "") cpSync(workspace, join(folder, `run-${number}`), { recursive: true });
  }
}
