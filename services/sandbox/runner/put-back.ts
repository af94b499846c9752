import { randomUUID } from "node:crypto";
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import type { Entry } from "./checkpoint-store.ts";

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants;
const PERMISSIONS = 0o777;

/** Removes what stands at a path of the workspace; a folder that is not empty stays. */
export function removePath(root: string, path: string): void {
  atParent(root, path, (held) => {
    const stat = lstatSync(held, { throwIfNoEntry: false });
    if (stat?.isDirectory() === true) {
      try {
        rmdirSync(held);
      } catch (thrown) {
        if ((thrown as NodeJS.ErrnoException).code !== "ENOTEMPTY") throw thrown;
      }
    } else if (stat !== undefined) unlinkSync(held);
  });
}

/** Has a path be what it was. @param read the content of a file */
export function putBack(root: string, path: string, entry: Entry, read: (hash: string) => Buffer): void {
  atParent(root, path, (held, folder) => {
    const mode = entry.mode & PERMISSIONS;
    if (entry.kind === "folder") {
      if (lstatSync(held, { throwIfNoEntry: false })?.isDirectory() !== true) mkdirSync(held);
      return chmodSync(held, mode);
    }
    const made = `${folder}/.hlvm-${randomUUID()}`;
    try {
      if (entry.kind === "link") symlinkSync(entry.content, made);
      else writeFile(made, read(entry.content), mode);
      renameSync(made, held);
    } catch (thrown) {
      if (lstatSync(made, { throwIfNoEntry: false }) !== undefined) unlinkSync(made);
      throw thrown;
    }
  });
}

function writeFile(path: string, bytes: Buffer, mode: number): void {
  const descriptor = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    for (let written = 0; written < bytes.length;) written += writeSync(descriptor, bytes, written);
    fchmodSync(descriptor, mode);
  } finally {
    closeSync(descriptor);
  }
}

/** Opens the folder that a path lies in, one after the other, so that no link on the way is followed. */
function atParent(root: string, path: string, work: (held: string, folder: string) => void): void {
  const names = path.split("/");
  const last = names.pop()!;
  let descriptor = openSync(root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  try {
    for (const name of names) {
      const inner = openSync(`/proc/self/fd/${descriptor}/${name}`, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
      closeSync(descriptor);
      descriptor = inner;
    }
    work(`/proc/self/fd/${descriptor}/${last}`, `/proc/self/fd/${descriptor}`);
  } finally {
    closeSync(descriptor);
  }
}
