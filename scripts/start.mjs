// `npm start -- …`: installs what is missing, then runs the hlvm command in the folder that npm was called from.
// Without arguments: `hlvm up`; with `--team` alone: `hlvm up --team`.
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { fileURLToPath } from "node:url";
import { callerDirectory, hlvmDirectory, node, prepare } from "./prepare.mjs";
import { bundlePrograms } from "./prepare/bundles.mjs";
import { buildPage } from "./prepare/page.mjs";
import { orExplain } from "./prepare/not-prepared.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const main = fileURLToPath(new URL("../services/cli/bin/hlvm.js", import.meta.url));
/** Code that was compiled once need not be at every start, whatever the HLVM directory. */
const compileCache = fileURLToPath(new URL("../node_modules/.cache/hlvm", import.meta.url));
const asked = process.argv.slice(2);
const given = asked[0] === "--team" ? ["up", ...asked] : asked;

await orExplain(() => prepare({ directory: hlvmDirectory }));
bundlePrograms(root);
if (given.length === 0 || given[0] === "up") buildPage(root);

const child = spawn(node, [main, ...(given.length === 0 ? ["up"] : given)], {
  cwd: callerDirectory,
  stdio: "inherit",
  env: { NODE_COMPILE_CACHE: compileCache, ...process.env },
});
// A Ctrl-C reaches the child from the terminal too; it decides what that means.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (cause) => {
  console.error(`hlvm: cannot be run in ${callerDirectory}: ${cause.message}`);
  console.error("What to do: change to a folder that exists and that you may enter.");
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
