import { readSupervisorConfig } from "./config.ts";
import { planMesh } from "./plan-mesh.ts";
import { supervise } from "./supervise.ts";

await supervise(() => readSupervisorConfig(process.env), planMesh);
