import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nodeOf } from "./node.mjs";
import { say } from "./not-prepared.mjs";

/** All that the page is made of, relative to the repository's root. */
const SOURCES = [
  "services/web/src",
  "services/web/index.html",
  "services/web/vite.config.ts",
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
  const mark = join(folder, "dist", "built-for");
  const sources = hashOf(root);
  if (readIfThere(mark) === sources) return;
  say("building the page (a few seconds, once) …");
  const vite = join(root, "node_modules", "vite", "bin", "vite.js");
  const built = spawnSync(nodeOf(root), [vite, "build", "--logLevel", "warn"], { cwd: folder, encoding: "utf8" });
  if (built.status === 0) writeFileSync(mark, sources);
  else say(`the page could not be built, so there is none:\n${built.stderr}`);
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
