import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { cleanEnvironment, repositoryRoot } from "../e2e/test-mesh.ts";

/** Milliseconds from `npm start` with a new HLVM directory until it says that the mesh is up. */
export async function timeNpmStart(): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), "hlvm-bench-"));
  const started = performance.now();
  const npm = spawn("npm", ["start", "--silent"], {
    cwd: repositoryRoot,
    env: cleanEnvironment(directory),
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let notes = "";
  npm.stderr.setEncoding("utf8").on("data", (chunk: string) => (notes += chunk));
  try {
    let ready: number | undefined;
    for await (const line of createInterface({ input: npm.stdout })) {
      if (ready !== undefined || !line.startsWith("HLVM is up")) continue;
      ready = performance.now() - started;
      process.kill(-npm.pid!, "SIGINT");
    }
    if (ready === undefined) throw new Error(`npm start ended before the mesh was up: ${notes}`);
    if (npm.exitCode === null) await once(npm, "exit");
    return ready;
  } finally {
    rmSync(directory, { recursive: true });
  }
}
