// `npm run chaos [-- --runs N --seed N …]`: kills and freezes processes of a mesh that works, and prints what held and what did not.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { hlvmDirectory, node, prepare } from "./prepare.mjs";
import { bundlePrograms } from "./prepare/bundles.mjs";
import { orExplain } from "./prepare/not-prepared.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
await orExplain(() => prepare({ directory: hlvmDirectory }));
bundlePrograms(root);
const run = spawnSync(node, [join(root, "tests", "chaos", "main.ts"), ...process.argv.slice(2)], {
  cwd: root,
  stdio: "inherit",
  env: { ...process.env, PATH: `${process.env.PATH}:${join(hlvmDirectory, "bin")}` },
});
process.exit(run.status ?? 1);
