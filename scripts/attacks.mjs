// `npm run attacks [-- GROUP …] [--json]`: attacks a running mesh and prints what held and what did not.
// `npm run attacks -- without-checks [WORD …]`: takes out the doors' checks one by one and sees that an attack gets through.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { hlvmDirectory, node, prepare } from "./prepare.mjs";
import { bundlePrograms } from "./prepare/bundles.mjs";
import { orExplain } from "./prepare/not-prepared.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
await orExplain(() => prepare({ directory: hlvmDirectory }));
bundlePrograms(root);
const [word, ...rest] = process.argv.slice(2);
const program = word === "without-checks" ? ["without-checks.ts", ...rest] : ["main.ts", ...process.argv.slice(2)];
const run = spawnSync(node, [join(root, "tests", "attacks", program[0]), ...program.slice(1)], {
  cwd: root,
  stdio: "inherit",
  env: { ...process.env, PATH: `${process.env.PATH}:${join(hlvmDirectory, "bin")}` },
});
process.exit(run.status ?? 1);
