// `npm run model-clients [-- NAME …]`: claude, codex, opencode and pi, as they come from npm, each with questions through the model doors
// of a mesh with a scripted model; then their transcripts are imported, and their hooks tried.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { hlvmDirectory, node, prepare } from "./prepare.mjs";
import { bundlePrograms } from "./prepare/bundles.mjs";
import { orExplain } from "./prepare/not-prepared.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
await orExplain(() => prepare({ directory: hlvmDirectory }));
bundlePrograms(root);
const run = spawnSync(node, [join(root, "tests", "model-doors", "clients", "main.ts"), ...process.argv.slice(2)], {
  cwd: root,
  stdio: "inherit",
});
process.exit(run.status ?? 1);
