import { attackGroups, type AttackCase, type Finding } from "./attack-case.ts";
import { attackCases } from "./attack-cases.ts";
import { AttackMesh } from "./attack-mesh.ts";
import { runCase } from "./run-case.ts";

interface Line extends Finding {
  readonly group: string;
  readonly case: string;
}

const wanted = process.argv.slice(2).filter((word) => !word.startsWith("-"));
const asJson = process.argv.includes("--json");
const unknown = wanted.find((word) => !(attackGroups as readonly string[]).includes(word));
if (unknown !== undefined) {
  console.error(`There is no group "${unknown}". There are: ${attackGroups.join(", ")}.`);
  process.exit(2);
}
const chosen = attackCases.filter(({ group }) => wanted.length === 0 || wanted.includes(group));
const lines: Line[] = [];
const mesh = await AttackMesh.start();
try {
  for (const attack of chosen) {
    const line = lineOf(attack, await runCase(attack, mesh));
    lines.push(line);
    console.log(asJson ? JSON.stringify(line) : row(line));
  }
} finally {
  await mesh.stop();
}
const count = (result: Finding["result"]): number => lines.filter((line) => line.result === result).length;
if (!asJson) console.log(`\n${count("held")} held, ${count("BROKEN")} BROKEN, ${count("not run")} not run`);
process.exitCode = count("BROKEN") === 0 ? 0 : 1;

function lineOf({ group, name, origin }: AttackCase, finding: Finding): Line {
  return { group, case: origin === undefined ? name : `${name} (${origin})`, ...finding };
}

function row({ group, case: name, result, observed }: Line): string {
  return `${group.padEnd(5)} ${result.padEnd(8)} ${name}\n${" ".repeat(15)}${observed.replaceAll(/[^\x20-\x7e]+/g, " ").slice(0, 400)}`;
}
