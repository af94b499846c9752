// `npm test`: installs what is missing, then runs every test once and says how many ran.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { hlvmDirectory, node, prepare } from "./prepare.mjs";
import { bundlePrograms } from "./prepare/bundles.mjs";
import { installChromium } from "./prepare/chromium.mjs";
import { orExplain } from "./prepare/not-prepared.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
await orExplain(() => prepare({ directory: hlvmDirectory }));
bundlePrograms(root);
const chosen = process.argv.slice(2).filter((word) => !word.startsWith("-"));
if (chosen.length === 0 || chosen.some((path) => path.startsWith("tests/web"))) installChromium();

const results = join(root, ".cache", `test-results-${process.pid}.json`);
mkdirSync(dirname(results), { recursive: true });
const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
const run = spawnSync(
  node,
  [vitest, "run", "--reporter=default", "--reporter=json", `--outputFile.json=${results}`, ...process.argv.slice(2)],
  { cwd: root, stdio: "inherit", env: { ...process.env, PATH: `${process.env.PATH}:${join(hlvmDirectory, "bin")}` } },
);

if (existsSync(results)) {
  const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(readFileSync(results, "utf8"));
  console.log(`${numPassedTests} passed, ${numFailedTests} failed, ${numPendingTests} skipped`);
  rmSync(results);
} else console.log("The tests did not run to their end: there is no count.");
process.exit(run.status ?? 1);
