// `npm run upgrade [-- REV …]`: replaces the services of an earlier version by today's while runs are under way, and prints what held.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { hlvmDirectory, node, prepare } from "./prepare.mjs";
import { bundlePrograms } from "./prepare/bundles.mjs";
import { orExplain } from "./prepare/not-prepared.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
await orExplain(() => prepare({ directory: hlvmDirectory }));
bundlePrograms(root);
const run = spawnSync(node, [join(root, "tests", "upgrade", "main.ts"), ...process.argv.slice(2)], {
  cwd: root,
  stdio: "inherit",
  env: { ...process.env, PATH: `${process.env.PATH}:${join(hlvmDirectory, "bin")}` },
});
process.exit(run.status ?? 1);
