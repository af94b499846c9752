import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** Those of `npm run faults`. */
const FAULTS = ["faults", "chaos", "upgrade"]
  .map((folder) => `tests/${folder}/**/*.test.ts`)
  .concat("{libs,services}/*/src/**/*.faults.test.ts");
const isFaults = process.env.HLVM_TESTS === "faults";

export default defineConfig({
  test: {
    include: isFaults
      ? FAULTS
      : ["libs/*/src/**/*.test.ts", "services/*/src/**/*.test.ts", "services/sandbox/runner/**/*.test.ts", "tests/**/*.test.ts"],
    exclude: ["**/node_modules/**", ...(isFaults ? [] : FAULTS)],
    globalSetup: ["libs/testing/src/postgres-global-setup.ts"],
    // For what hangs, and no measure of speed: on a machine where starting a process takes ten times as long, tests that start many
    // take minutes.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // Nor this: starting a process takes over a second where both processors are busy.
    expect: { poll: { timeout: 30_000 } },
    pool: "forks",
    // As the services are started: see NODE_FLAGS.
    execArgv: ["--disable-warning=ExperimentalWarning"],
    maxWorkers: 2,
    // Most of the time goes into starting processes: as `hlvm` starts them, with code that is compiled once.
    env: { NODE_COMPILE_CACHE: fileURLToPath(new URL("node_modules/.cache/hlvm", import.meta.url)) },
    // What a passing test has the libraries complain of is no news.
    silent: "passed-only",
  },
});
