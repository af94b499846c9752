import { lstatSync, realpathSync } from "node:fs";
import { dirname, join, normalize, sep } from "node:path";
import { HlvmError } from "@hlvm/errors/hlvm-error";

/** What some file systems take for `.git`: other letters, a short name, a data stream, trailing dots, ignored characters. */
const GIT_FOLDER = /^(\.git|git~\d+)[. ]*(:.*)?$/i;
const IGNORED_CHARACTERS = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/**
 * A path of a change, which somebody else has chosen, as one within the folder.
 * @param hooksFolder where the repository keeps its hooks, in the folder; undefined where that is in .git
 * @throws HlvmError `change_not_allowed`
 */
export function safePath(bytes: Uint8Array, folder: string, hooksFolder: string | undefined): string {
  const path = Buffer.from(bytes).toString("utf8");
  if (!Buffer.from(path).equals(bytes)) throw notAllowed(path, "its name is not UTF-8");
  const segments = path.split("/");
  if (path.includes("\0") || path.includes("\\") || segments.some((segment) => segment === "" || segment === "." || segment === ".."))
    throw notAllowed(path, "it is no path within the folder");
  if (segments.some((segment) => GIT_FOLDER.test(segment.replaceAll(IGNORED_CHARACTERS, ""))))
    throw notAllowed(path, "it is in git's own folder, whose files git obeys");
  if (hooksFolder !== undefined && (path === hooksFolder || path.startsWith(`${hooksFolder}/`)))
    throw notAllowed(path, "it is one of the repository's hooks, which git runs");
  requireNoLinkAbove(path, folder);
  return path;
}

/** @throws HlvmError where a link would be made that leads out of the folder */
export function requireLinkWithin(path: string, target: Uint8Array): void {
  const to = Buffer.from(target).toString("utf8");
  const reached = normalize(join(dirname(path), to));
  if (to.startsWith("/") || reached === ".." || reached.startsWith(`..${sep}`) || GIT_FOLDER.test(reached.split(sep)[0]!))
    throw notAllowed(path, `it is a link to ${to}, out of the folder`);
}

/** A folder on the way may have become a link, here or by the change before: nothing is written through it. */
export function requireNoLinkAbove(path: string, folder: string): void {
  const root = realpathSync(folder);
  for (let above = dirname(path); above !== "."; above = dirname(above)) {
    const stats = lstatSync(join(root, above), { throwIfNoEntry: false });
    if (stats?.isSymbolicLink() === true) throw notAllowed(path, `${above} is a link here`);
  }
}

function notAllowed(path: string, why: string): HlvmError {
  return new HlvmError({
    code: "permission_denied",
    reason: "change_not_allowed",
    message: `Nothing was changed: the session's change of ${JSON.stringify(path)} is refused, since ${why}.`,
    advice: "Look at what the session did (`hlvm session show`); such a change is made by hand, where it is meant.",
  });
}
