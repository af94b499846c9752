import { createHash, randomUUID } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync, readFileSync, realpathSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { requireNoLinkAbove } from "../workspace/safe-path.ts";

const GUARD = /\n<!-- hlvm projection sha256:(?<hash>[0-9a-f]{64}) (?<what>[^\n]{0,300}) -->\n$/;
const MAXIMUM_BYTES = 1_048_576;
const READ_ONLY = 0o444;
const PAGES = "wiki";

export interface ProjectedFile {
  /** Within the folder, with slashes. */
  readonly path: string;
  readonly change: "written" | "unchanged" | "removed";
}

/** A text with a last line that tells whether anybody changed it since. @param what where it comes from, and how it is changed */
export function guarded(text: string, what: string): string {
  const body = text.trimEnd();
  return `${body}\n\n<!-- hlvm projection sha256:${hashOf(`${body}\n`, what)} ${what} -->\n`;
}

/**
 * Makes a folder say what memory says: files that it wrote before are written anew or taken away. What anybody else wrote, or changed
 * since, stays as it is, and then nothing at all is written.
 * @param files by their paths in the folder, guarded
 * @throws HlvmError `projection_changed`, `projection_not_ours`
 */
export function projectFiles(folder: string, files: ReadonlyMap<string, string>, isTrial: boolean): ProjectedFile[] {
  const root = realpathSync(folder);
  const done = [...files].map(([path, text]): ProjectedFile => {
    return { path, change: presentText(root, path) === text ? "unchanged" : "written" };
  });
  const gone = pagesIn(root, PAGES).filter((path) => !files.has(path) && presentText(root, path) !== undefined);
  if (!isTrial) {
    for (const { path, change } of done) if (change === "written") replaceFile(root, path, files.get(path)!);
    for (const path of gone) unlinkSync(join(root, path));
  }
  return [...done, ...gone.map((path): ProjectedFile => ({ path, change: "removed" }))];
}

/** What stands there and is as it was written; undefined where there is nothing. */
function presentText(root: string, path: string): string | undefined {
  requireNoLinkAbove(path, root);
  const stats = lstatSync(join(root, path), { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  if (!stats.isFile() || stats.size > MAXIMUM_BYTES) throw refused("projection_not_ours", path, "was not written by HLVM");
  const text = readFileSync(join(root, path), "utf8");
  const guard = GUARD.exec(text)?.groups;
  if (guard === undefined) throw refused("projection_not_ours", path, "was not written by HLVM");
  const body = text.replace(GUARD, "");
  if (hashOf(body, guard.what!) !== guard.hash) throw refused("projection_changed", path, "was changed since HLVM wrote it");
  return text;
}

function pagesIn(root: string, folder: string): string[] {
  requireNoLinkAbove(`${folder}/x`, root);
  if (lstatSync(join(root, folder), { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  const entries = readdirSync(join(root, folder), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && entry.name.endsWith(".md"));
  return files.map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1)).filter((path) => isGuarded(join(root, path)));
}

function isGuarded(file: string): boolean {
  return lstatSync(file).size <= MAXIMUM_BYTES && GUARD.test(readFileSync(file, "utf8"));
}

/** Whoever reads meanwhile has the old file or the new one; a link in its place is replaced, and not followed. */
function replaceFile(root: string, path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  requireNoLinkAbove(path, root);
  const fresh = join(root, dirname(path), `.hlvm-${randomUUID()}`);
  writeFileSync(fresh, text, { mode: READ_ONLY, flag: "wx" });
  renameSync(fresh, join(root, path));
}

/** The blank line before the guard is part of neither. */
function hashOf(body: string, what: string): string {
  return createHash("sha256")
    .update(JSON.stringify([body, what]))
    .digest("hex");
}

function refused(reason: "projection_changed" | "projection_not_ours", path: string, why: string): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason,
    message: `Nothing was written: ${path} ${why}.`,
    advice:
      reason === "projection_changed"
        ? "Bring what was changed into the wiki (`hlvm memory wiki write`), or delete the file; then project again."
        : "Move it away, or project into another folder.",
  });
}
