import { mkdirSync } from "node:fs";
import module from "node:module";
import { join } from "node:path";
import { hlvmDirectory } from "@hlvm/mesh/hlvm-directory";

const directory = hlvmDirectory(process.env);
try {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  module.enableCompileCache(join(directory, "cache", "compile"));
} catch {
  // Without its cache the command starts slower, and `hlvm doctor` says why.
}

// Imported after the cache is on, so that it is compiled once and not at every start.
const { runCommandLine } = await import("./run-command-line.ts");
const exitCode = await runCommandLine(process.argv.slice(2), process.env);
await new Promise((flushed) => process.stdout.write("", flushed));
process.exit(exitCode);
