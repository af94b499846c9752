import { parseArgs } from "node:util";
import { attackGroups, findingOf, type AttackCase, type Finding } from "./attack-case.ts";
import { attackCases } from "./attack-cases.ts";
import { AttackMesh } from "./attack-mesh.ts";
import { readOnlyCommands } from "./read-only-commands.ts";
import { checkReadOnly, type PropertyReport } from "./read-only-property.ts";
import { runCase } from "./run-case.ts";

const PROPERTY = "property";
const DEFAULT_RUNS = 100_000;

interface Line extends Finding {
  readonly group: string;
  readonly case: string;
}

const { values, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: { json: { type: "boolean", default: false }, runs: { type: "string" }, seed: { type: "string" }, case: { type: "string" } },
});
const asJson = values.json;
const names: readonly string[] = [...attackGroups, PROPERTY];
const unknown = wanted.find((word) => !names.includes(word));
if (unknown !== undefined) {
  console.error(`There is no group "${unknown}". There are: ${names.join(", ")}.`);
  process.exit(2);
}
const chosen = attackCases.filter(
  ({ group, name }) => (wanted.length === 0 || wanted.includes(group)) && (values.case === undefined || values.case === name),
);
const lines: Line[] = [];
const mesh = await AttackMesh.start();
try {
  for (const attack of chosen) {
    tell(lineOf(attack, await runCase(attack, mesh)));
  }
  if (wanted.includes(PROPERTY)) tell(await property());
} finally {
  await mesh.stop();
}
const count = (result: Finding["result"]): number => lines.filter((line) => line.result === result).length;
if (!asJson) console.log(`\n${count("held")} held, ${count("BROKEN")} BROKEN, ${count("not run")} not run`);
process.exitCode = count("BROKEN") === 0 ? 0 : 1;

function tell(line: Line): void {
  lines.push(line);
  console.log(asJson ? JSON.stringify(line) : row(line));
}

/** The property, over as many commands as wanted; the seed is told so that a run can be made again. */
async function property(): Promise<Line> {
  const runs = Number(values.runs ?? DEFAULT_RUNS);
  const seed = Number(values.seed ?? Date.now() % 1_000_000_007);
  const began = performance.now();
  const told = ({ generated, judgedReadOnly, ran }: PropertyReport): string =>
    `${generated} generated, ${judgedReadOnly} judged to read only, ${ran} ran, ${Math.round((performance.now() - began) / 1_000)} s, seed ${seed}`;
  const report = await checkReadOnly(mesh, {
    commands: readOnlyCommands,
    runs,
    seed,
    onProgress: (now) => void (process.stderr.isTTY && process.stderr.write(`\r${told(now)}`)),
  });
  const changes = report.changes.map(({ command, differences }) => `${JSON.stringify(command)} ${differences.join(", ")}`);
  const { result, observed } = findingOf(changes, "nothing was changed");
  return { group: PROPERTY, case: "whatever is judged to read only changes nothing", result, observed: `${told(report)}: ${observed}` };
}

function lineOf({ group, name, origin }: AttackCase, finding: Finding): Line {
  return { group, case: origin === undefined ? name : `${name} (${origin})`, ...finding };
}

function row({ group, case: name, result, observed }: Line): string {
  return `${group.padEnd(8)} ${result.padEnd(8)} ${name}\n${" ".repeat(18)}${observed.replaceAll(/[^\x20-\x7e]+/g, " ").slice(0, 400)}`;
}
