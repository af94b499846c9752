import { setTimeout as sleep } from "node:timers/promises";
import { broken, type AttackCase, type Finding } from "./attack-case.ts";
import type { AttackMesh } from "./attack-mesh.ts";

const DEADLINE_MILLISECONDS = 240_000;

/** Runs one attack to its finding. One that breaks off has shown nothing, and what shows nothing has not held. */
export async function runCase(attack: AttackCase, mesh: AttackMesh): Promise<Finding> {
  const over = new AbortController();
  const late = sleep(DEADLINE_MILLISECONDS, broken("it did not come to an end"), { signal: over.signal });
  late.catch(() => undefined);
  try {
    return await Promise.race([attack.run(mesh), late]);
  } catch (thrown) {
    return broken(`it broke off: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  } finally {
    over.abort();
  }
}
