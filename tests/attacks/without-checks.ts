import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { repositoryRoot } from "../e2e/test-mesh.ts";
import type { Finding } from "./attack-case.ts";
import { removedChecks, type Edit, type RemovedCheck } from "./removed-checks.ts";

/** What is installed or built: it stands beside the copy as it is. */
const LINKED = ["node_modules", "scripts/node/node_modules", "services/web/dist"];
const LEFT_OUT: ReadonlySet<string> = new Set(["node_modules", "dist", ".git", ".cache", ".nx"]);

const wanted = process.argv.slice(2);
const chosen = removedChecks.filter(
  ({ check, attack }) => wanted.length === 0 || wanted.some((word) => `${check} ${attack}`.includes(word)),
);
let unseen = 0;
for (const removed of chosen) {
  const { result, observed } = attackWithout(removed);
  const isSeen = result === "BROKEN" && !observed.startsWith("it broke off");
  if (!isSeen) unseen += 1;
  console.log(`${isSeen ? "seen" : "UNSEEN"}  without ${removed.check}: ${removed.attack}\n        ${observed.slice(0, 200)}`);
}
console.log(`\n${chosen.length - unseen} of ${chosen.length} removed checks are seen by an attack`);
process.exitCode = unseen === 0 ? 0 : 1;

/** The attack on a mesh of a copy of this repository in which the check is not made. */
function attackWithout({ attack, edits }: RemovedCheck): Finding {
  const copy = mkdtempSync(join(tmpdir(), "hlvm-without-"));
  try {
    cpSync(repositoryRoot, copy, { recursive: true, filter: (source) => !LEFT_OUT.has(basename(source)) });
    for (const path of LINKED.filter((one) => existsSync(join(repositoryRoot, one))))
      symlinkSync(join(repositoryRoot, path), join(copy, path));
    for (const edit of edits) remove(copy, edit);
    const words = [join(copy, "tests", "attacks", "main.ts"), "doors", "--json", "--case", attack];
    const { stdout, stderr } = spawnSync(process.execPath, words, { cwd: copy, encoding: "utf8" });
    const line = stdout.split("\n").find((text) => text.startsWith("{"));
    return line === undefined ? { result: "not run", observed: `it was not made: ${stderr.slice(-300)}` } : (JSON.parse(line) as Finding);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function remove(copy: string, { file, from, to }: Edit): void {
  const path = join(copy, file);
  const [before, after, ...more] = readFileSync(path, "utf8").split(from);
  if (after === undefined || more.length > 0)
    throw new Error(`${file} has ${JSON.stringify(from)} ${more.length + (after === undefined ? 0 : 1)} times, and not once.`);
  writeFileSync(path, before! + to + after);
}
