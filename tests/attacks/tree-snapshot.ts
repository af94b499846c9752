import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync, type BigIntStats } from "node:fs";
import { join } from "node:path";

/** Everything below a folder, by path. */
export type TreeSnapshot = ReadonlyMap<string, string>;

/** Kind, mode, links, time of change and content. */
export function snapshotTree(root: string): TreeSnapshot {
  return snapshot(root, ({ nlink, mtimeNs }) => [nlink, mtimeNs]);
}

/** Kind, mode and content alone: what was changed and put back is the same. */
export function snapshotContent(root: string): TreeSnapshot {
  return snapshot(root, () => []);
}

function snapshot(root: string, more: (stats: BigIntStats) => readonly bigint[]): TreeSnapshot {
  const entries = new Map<string, string>();
  const visit = (path: string): void => {
    const stats = lstatSync(join(root, path), { bigint: true });
    entries.set(path, [stats.mode.toString(8), ...more(stats), contentOf(join(root, path), stats)].join(" "));
    if (stats.isDirectory()) for (const name of readdirSync(join(root, path))) visit(join(path, name));
  };
  visit(".");
  return entries;
}

/** What differs, in words; empty where nothing does. */
export function treeDifferences(before: TreeSnapshot, after: TreeSnapshot): string[] {
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths].flatMap((path) => {
    if (before.get(path) === after.get(path)) return [];
    if (!before.has(path)) return [`made: ${path}`];
    return [after.has(path) ? `changed: ${path}` : `gone: ${path}`];
  });
}

function contentOf(path: string, stats: { isFile: () => boolean; isSymbolicLink: () => boolean }): string {
  if (stats.isSymbolicLink()) return `-> ${readlinkSync(path)}`;
  if (!stats.isFile()) return "";
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}
