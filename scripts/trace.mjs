// `npm run trace`: prints the trace of one question as a tree, with how long every step took.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { hlvmDirectory, node, prepare } from "./prepare.mjs";
import { bundlePrograms } from "./prepare/bundles.mjs";
import { orExplain } from "./prepare/not-prepared.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
await orExplain(() => prepare({ directory: hlvmDirectory }));
bundlePrograms(root);
const run = spawnSync(node, [join(root, "tests", "e2e", "trace-a-question.ts")], {
  cwd: root,
  stdio: "inherit",
});
process.exit(run.status ?? 1);
