import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nodeOf } from "./node.mjs";
import { say } from "./not-prepared.mjs";

/** All that the page is made of, relative to the repository's root. */
const SOURCES = [
  "services/web/src",
  "services/web/index.html",
  "services/web/vite.config.ts",
  "scripts/prepare/page.mjs",
  "libs/ansi/src",
  "libs/conversation/src",
  "libs/ndjson/src",
  "libs/visible-text/src",
  "proto/gen/hlvm",
  "package-lock.json",
];

/**
 * Builds the page, unless it is built already for these very sources. Where that fails the mesh starts without it: nothing but
 * the page needs it.
 */
export function buildPage(root) {
  const folder = join(root, "services", "web");
  const dist = join(folder, "dist");
  const mark = join(dist, "built-for");
  const sources = hashOf(root);
  if (readIfThere(mark) === sources) return;
  say("building the page (a few seconds, once) …");
  const vite = join(root, "node_modules", "vite", "bin", "vite.js");
  // Beside it first: a mesh that starts meanwhile finds one page or the other, and no half of one.
  const fresh = join(folder, `dist-${process.pid}`);
  const options = ["build", "--logLevel", "warn", "--outDir", fresh, "--emptyOutDir"];
  // Whatever the caller is: React has a build for tests that is half as large again, and slow.
  const env = { ...process.env, NODE_ENV: "production" };
  const built = spawnSync(nodeOf(root), [vite, ...options], { cwd: folder, encoding: "utf8", env });
  if (built.status !== 0) {
    rmSync(fresh, { recursive: true, force: true });
    return say(`the page could not be built:\n${built.stderr}`);
  }
  writeFileSync(join(fresh, "built-for"), sources);
  rmSync(dist, { recursive: true, force: true });
  renameSync(fresh, dist);
}

function hashOf(root) {
  const hash = createHash("sha256");
  for (const source of SOURCES)
    for (const file of filesIn(join(root, source)))
      hash
        .update(`${file.slice(root.length)}\0`)
        .update(readFileSync(file))
        .update("\0");
  return hash.digest("hex");
}

function filesIn(path) {
  try {
    return readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort();
  } catch (cause) {
    if (cause.code === "ENOTDIR") return [path];
    throw cause;
  }
}

function readIfThere(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
