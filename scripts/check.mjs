// `npm run check`: everything that can be known without running the product. Two checks run at a time.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { hlvmDirectory, prepare } from "./prepare.mjs";
import { orExplain } from "./prepare/not-prepared.mjs";

const AT_ONCE = 2;
const root = dirname(dirname(fileURLToPath(import.meta.url)));
await orExplain(() => prepare({ directory: hlvmDirectory }));

const scratch = mkdtempSync(join(tmpdir(), "hlvm-check-"));
const checks = [
  ["types", "tsc", "-p", "."],
  ["types of the page", "tsc", "-p", "services/web"],
  ["lint", "oxlint", "--type-aware", "--deny-warnings"],
  ["format", "oxfmt", "--check", "."],
  ["contracts: lint", "buf", "lint", "proto"],
  ["contracts: format", "buf", "format", "proto", "--diff", "--exit-code"],
  ["contracts: nothing released breaks", "node", "scripts/check-breaking.mjs", scratch],
  ["contracts: generated code is fresh", "node", "scripts/check-generated.mjs", scratch],
  ["architecture", "vitest", "run", "tests/architecture", "--globals=false"],
];

let failed = 0;
const waiting = [...checks];
await Promise.all(
  Array.from({ length: AT_ONCE }, async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [name, ...command] = next;
      const started = performance.now();
      const { code, output } = await run(command);
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      console.log(`${code === 0 ? "ok    " : "FAILED"} ${name} (${seconds} s)`);
      if (code !== 0) console.log(output.replaceAll(/^/gm, "       "));
      if (code !== 0) failed += 1;
    }
  }),
);
rmSync(scratch, { recursive: true });
console.log((await run(["node", "scripts/report-file-sizes.mjs"])).output.trimEnd());
console.log(`${checks.length - failed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

function run([command, ...commandArguments]) {
  return new Promise((resolve) => {
    const path = `${join(root, "node_modules", ".bin")}:${process.env.PATH}`;
    const child = spawn(command, commandArguments, { cwd: root, env: { ...process.env, PATH: path, NO_COLOR: "1" } });
    let output = "";
    child.stdout.on("data", (chunk) => (output += chunk));
    child.stderr.on("data", (chunk) => (output += chunk));
    child.on("error", (cause) => resolve({ code: 1, output: cause.message }));
    child.on("close", (code) => resolve({ code: code ?? 1, output }));
  });
}
