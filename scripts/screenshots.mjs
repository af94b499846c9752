// `npm run screenshots [-- NAME …]`: pictures of every place of the page, in both themes, wide and narrow, to be looked at.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { hlvmDirectory, node, prepare } from "./prepare.mjs";
import { bundlePrograms } from "./prepare/bundles.mjs";
import { installChromium } from "./prepare/chromium.mjs";
import { orExplain } from "./prepare/not-prepared.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
await orExplain(() => prepare({ directory: hlvmDirectory }));
bundlePrograms(root);
installChromium();
const run = spawnSync(node, [join(root, "tests", "web", "screenshots.ts"), ...process.argv.slice(2)], { cwd: root, stdio: "inherit" });
process.exit(run.status ?? 1);
