// `npm run eval [-- --repeat N …]`: our own twelve tasks, answered by a scripted model, in a mesh of their own. With
// HLVM_EVAL_ANSWERS=wrong-answers.json the model answers each of them wrongly, so that none may pass.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { hlvmDirectory, node, prepare } from "./prepare.mjs";
import { bundlePrograms } from "./prepare/bundles.mjs";
import { orExplain } from "./prepare/not-prepared.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
await orExplain(() => prepare({ directory: hlvmDirectory }));
bundlePrograms(root);
const directory = mkdtempSync(join(tmpdir(), "hlvm-eval-mesh-"));
const words = ["eval", join(root, "tests", "eval", "tasks"), "--model", "scripted/script", ...process.argv.slice(2)];
const run = spawnSync(node, [join(root, "services", "cli", "bin", "hlvm.js"), ...words], {
  cwd: root,
  stdio: "inherit",
  env: {
    ...process.env,
    PATH: `${process.env.PATH}:${join(hlvmDirectory, "bin")}`,
    HLVM_DIR: directory,
    HLVM_PORT: "0",
    HLVM_SCRIPT_FILE: join(root, "tests", "eval", process.env.HLVM_EVAL_ANSWERS ?? "right-answers.json"),
  },
});
rmSync(directory, { recursive: true, force: true });
process.exit(run.status ?? 1);
