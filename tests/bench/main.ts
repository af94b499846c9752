import { parseArgs } from "node:util";
import { benchAppends } from "./appends.ts";
import { benchAudit } from "./audit.ts";
import { benchCancel } from "./cancel.ts";
import { benchCheckpoints } from "./checkpoints.ts";
import { benchContext } from "./context.ts";
import { benchGateway } from "./gateway.ts";
import { benchHook } from "./hook.ts";
import { benchLighthouse } from "./lighthouse.ts";
import { benchLongSession } from "./long-session.ts";
import { benchManyRuns } from "./many-runs.ts";
import { benchMemory } from "./memory.ts";
import { benchMemoryScale } from "./memory-scale.ts";
import { benchMemoryScopes } from "./memory-scopes.ts";
import { benchMemoryUpdates } from "./memory-updates.ts";
import { benchMeshCall } from "./mesh-call.ts";
import { benchPool } from "./pool.ts";
import { benchSandboxes } from "./sandboxes.ts";
import { benchStartAndSize } from "./start-and-size.ts";
import { benchTakeOver } from "./take-over.ts";
import { benchTelemetryCost } from "./telemetry-cost.ts";
import { benchToolTurn } from "./tool-turn.ts";
import { benchTurnSteps } from "./turn-steps.ts";
import { benchWaiting } from "./waiting.ts";
import { benchWeb } from "./web.ts";
import { benchWorkers } from "./workers.ts";

const { values, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: "string" },
    turns: { type: "string", default: "5" },
    tool: { type: "string", default: "memory_search" },
    set: { type: "string" },
    facts: { type: "string", default: "100000" },
    pairs: { type: "string", default: "10000" },
  },
});
const benches: Readonly<Record<string, () => Promise<void>>> = {
  "start-and-size": benchStartAndSize,
  "tool-turn": benchToolTurn,
  "turn-steps": benchTurnSteps,
  "telemetry-cost": benchTelemetryCost,
  "mesh-call": benchMeshCall,
  sandboxes: benchSandboxes,
  audit: benchAudit,
  cancel: benchCancel,
  "take-over": benchTakeOver,
  hook: benchHook,
  memory: () => benchMemory(values.set, wanted.find(isFile)),
  "memory-updates": benchMemoryUpdates,
  "memory-scopes": () => benchMemoryScopes(Number(values.pairs)),
  "memory-scale": () => benchMemoryScale(Number(values.facts)),
  appends: benchAppends,
  "many-runs": () => benchManyRuns({ runs: Number(values.runs ?? 500), turns: Number(values.turns), tool: values.tool }),
  waiting: () => benchWaiting(Number(values.runs ?? 10_000)),
  context: benchContext,
  "long-session": benchLongSession,
  checkpoints: benchCheckpoints,
  workers: benchWorkers,
  web: benchWeb,
  lighthouse: benchLighthouse,
  gateway: benchGateway,
  pool: benchPool,
};
/** What is read, and no name of a bench. */
const isFile = (name: string): boolean => name.endsWith(".json");
const unknown = wanted.find((name) => !(name in benches) && !isFile(name));
if (unknown !== undefined) {
  console.error(`There is no bench "${unknown}". There are: ${Object.keys(benches).join(", ")}.`);
  process.exit(2);
}
for (const [name, bench] of Object.entries(benches)) if (wanted.length === 0 || wanted.includes(name)) await bench();
