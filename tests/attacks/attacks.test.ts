import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { attackGroups, held } from "./attack-case.ts";
import { attackCases } from "./attack-cases.ts";
import { AttackMesh } from "./attack-mesh.ts";
import { runCase } from "./run-case.ts";

let mesh: AttackMesh;

beforeAll(async () => {
  mesh = await AttackMesh.start();
});

afterAll(() => mesh.stop());

describe.each(attackGroups)("attacks of group %s", (group) => {
  const attacks = attackCases.filter((attack) => attack.group === group && attack.onlyByCommand !== true);
  // By position: a name by its field would be cut.
  it.for(attacks.map((attack) => [attack.name, attack] as const))("%s", async ([, attack], context) => {
    const finding = await runCase(attack, mesh);
    if (finding.result === "not run") context.skip(finding.observed);
    expect(finding).toEqual(held(finding.observed));
  });
});
