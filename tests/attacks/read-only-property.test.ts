import { afterAll, beforeAll, expect, it } from "vitest";
import { AttackMesh } from "./attack-mesh.ts";
import { readOnlyCommands } from "./read-only-commands.ts";
import { checkReadOnly } from "./read-only-property.ts";

const RUNS = 400;
const SEED = 20_261_122;

let mesh: AttackMesh;

beforeAll(async () => {
  mesh = await AttackMesh.start();
});

afterAll(() => mesh.stop());

it("whatever is judged to read only changes nothing", { timeout: 120_000 }, async () => {
  const report = await checkReadOnly(mesh, { commands: readOnlyCommands, runs: RUNS, seed: SEED });
  expect(report.changes).toEqual([]);
  expect(report.ran).toBeGreaterThan(RUNS / 20);
});
