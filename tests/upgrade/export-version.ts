import { execFileSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { repositoryRoot } from "../e2e/test-mesh.ts";

/** What a checkout needs to run its mesh, besides its packages. */
const RUNNING = ["package.json", "package-lock.json", "proto", "libs", "services"];
/** Those of the checkout's own, and what is kept between starts: each version has its own. */
const NOT_LINKED = /^(@hlvm|\.cache|\.vite.*|\.vitest.*|\.package-lock\.json)$/;
const MAXIMUM_ARCHIVE_BYTES = 256 * 1_024 * 1_024;

/** A version of this repository in a folder of its own, able to run. */
export interface Version {
  /** A commit, or what is in the working tree. */
  readonly name: string;
  readonly root: string;
}

/**
 * Puts a version into `.cache/upgrade`, with the packages of npm that this checkout has.
 * @param revision as git knows it; undefined for the working tree
 * @throws Error with what to do, where git does not have it or where it needs other packages
 */
export function exportVersion(revision: string | undefined): Version {
  const name = revision === undefined ? "working-tree" : commitOf(revision);
  const root = join(repositoryRoot, ".cache", "upgrade", name, "before");
  rmSync(dirname(root), { recursive: true, force: true });
  mkdirSync(root, { recursive: true });
  if (revision === undefined) for (const part of RUNNING) cpSync(join(repositoryRoot, part), join(root, part), { recursive: true });
  else execFileSync("tar", ["-x", "-C", root], { input: git("archive", name) });
  requireSamePackages(name, root);
  linkPackages(root);
  return { name, root };
}

/**
 * The commit before the contracts were last changed on this branch: two versions that have something to disagree about.
 * @throws Error with what to do, where git does not have it
 */
export function beforeLastContracts(): string {
  const onBranch = ["--no-patch", "--first-parent", "--diff-merges=first-parent"];
  const changed = git("log", "-1", "--format=%H", ...onBranch, "--", "proto/released.binpb")
    .toString()
    .trim();
  return commitOf(`${changed}~1`);
}

function commitOf(revision: string): string {
  try {
    return git("rev-parse", "--verify", "--quiet", `${revision}^{commit}`).toString().trim();
  } catch (cause) {
    throw new Error(
      `git has no commit ${revision} here. Give another one, or fetch the history first where the clone is a shallow one: git fetch --unshallow`,
      { cause },
    );
  }
}

function git(...words: readonly string[]): Buffer {
  return execFileSync("git", words, { cwd: repositoryRoot, maxBuffer: MAXIMUM_ARCHIVE_BYTES, stdio: ["ignore", "pipe", "pipe"] });
}

function requireSamePackages(name: string, root: string): void {
  const [wanted, present] = [packagesOf(root), packagesOf(repositoryRoot)];
  const missing = [...wanted].filter(([path, version]) => present.get(path) !== version).map(([path, version]) => `${path} ${version}`);
  if (missing.length === 0) return;
  throw new Error(
    `${name} needs packages that this checkout does not have: ${missing.join(", ")}. ` +
      "Try a later commit: one since package-lock.json was last changed for a package of npm.",
  );
}

/** The packages of npm that a mesh may need, by where they lie; what only develops it counts for nothing. */
function packagesOf(root: string): Map<string, string> {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    packages: Record<string, { version?: string; link?: boolean; dev?: boolean }>;
  };
  return new Map(
    Object.entries(packages).flatMap(([path, { version, link, dev }]): [string, string][] =>
      path.includes("node_modules/") && version !== undefined && link !== true && dev !== true ? [[path, version]] : [],
    ),
  );
}

function linkPackages(root: string): void {
  const folder = join(root, "node_modules");
  mkdirSync(join(folder, "@hlvm"), { recursive: true });
  const installed = join(repositoryRoot, "node_modules");
  for (const entry of readdirSync(installed)) if (!NOT_LINKED.test(entry)) symlinkSync(join(installed, entry), join(folder, entry));
  for (const manifest of globSync(["proto/package.json", "libs/*/package.json", "services/*/package.json"], { cwd: root })) {
    const { name } = JSON.parse(readFileSync(join(root, manifest), "utf8")) as { name: string };
    symlinkSync(join(root, dirname(manifest)), join(folder, name));
  }
}
