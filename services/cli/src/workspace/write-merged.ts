import { chmodSync, mkdirSync, renameSync, rmdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { dirname, join } from "node:path";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { ChangedFile_Content_Kind as Kind } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { contentHere, isSame, type Content, type MergedFile } from "./merge-change.ts";
import { requireNoLinkAbove } from "./safe-path.ts";

const PERMISSIONS = 0o777;
const EXECUTABLE_FOR_ALL = 0o111;

export interface Writing {
  readonly path: string;
  /** As it was found: whoever has changed it since keeps what they did. */
  readonly here: MergedFile["here"];
  readonly content: Content;
}

/** Writes what was merged, each file whole or not at all. @throws HlvmError `file_changed_meanwhile`, `change_not_allowed` */
export function writeMerged(folder: string, writings: readonly Writing[]): void {
  for (const { path, here } of writings) requireUnchanged(folder, path, here);
  // What is deleted makes room for a folder of that name, or is the last in one.
  for (const { path, content } of writings) if (content === undefined) remove(folder, path);
  for (const writing of writings) if (writing.content !== undefined) write(folder, writing, writing.content);
}

function write(folder: string, { path, here }: Writing, content: NonNullable<Content>): void {
  requireNoLinkAbove(path, folder);
  requireUnchanged(folder, path, here);
  const target = join(folder, path);
  mkdirSync(dirname(target), { recursive: true });
  const temporary = join(dirname(target), `.hlvm-${randomUUID()}`);
  try {
    if (content.kind === Kind.LINK) symlinkSync(Buffer.from(content.bytes), temporary);
    else {
      writeFileSync(temporary, content.bytes, { flag: "wx" });
      const isFileHere = typeof here === "object" && here.kind !== Kind.LINK;
      const mode = (isFileHere ? statSync(target).mode : statSync(temporary).mode) & PERMISSIONS & ~EXECUTABLE_FOR_ALL;
      // Whoever may read it may run it.
      chmodSync(temporary, content.kind === Kind.EXECUTABLE ? mode | ((mode & 0o444) >> 2) : mode);
    }
    renameSync(temporary, target);
  } finally {
    rmSync(temporary, { force: true });
  }
}

function remove(folder: string, path: string): void {
  requireNoLinkAbove(path, folder);
  rmSync(join(folder, path), { force: true });
  for (let above = dirname(path); above !== "."; above = dirname(above)) {
    try {
      rmdirSync(join(folder, above));
    } catch {
      // Something else is in it.
      return;
    }
  }
}

function requireUnchanged(folder: string, path: string, here: MergedFile["here"]): void {
  const now = contentHere(join(folder, path));
  const isUnchanged = now === "folder" || here === "folder" ? now === here : isSame(now, here);
  if (isUnchanged) return;
  throw new HlvmError({
    code: "failed_precondition",
    reason: "file_changed_meanwhile",
    message: `${path} was changed while the session's changes were brought home; it is as you left it.`,
    advice: "Run it again: what is here already is left as it is.",
  });
}
