import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { BACKUP_FORMAT, MANIFEST_FILE, thisMachine, type BackupEntry, type BackupManifest } from "./manifest.ts";

/**
 * @param postgres the major version of the PostgreSQL that is to read what is restored
 * @throws HlvmError `no_backup`, `backup_of_another_kind`, `backup_damaged`
 */
export async function readManifest(folder: string, postgres: string): Promise<BackupManifest> {
  const text = await readFile(join(folder, MANIFEST_FILE), "utf8").catch((cause: unknown) => {
    throw noBackup(folder, cause);
  });
  let manifest: BackupManifest;
  try {
    manifest = JSON.parse(text) as BackupManifest;
  } catch (cause) {
    throw damaged(`${MANIFEST_FILE} is no JSON`, cause);
  }
  if (manifest.format !== BACKUP_FORMAT) throw otherKind(`has the format ${String(manifest.format)}, and this hlvm knows another`);
  if (manifest.postgres !== postgres) throw otherKind(`was made by PostgreSQL ${manifest.postgres}, and here is ${postgres}`);
  if (manifest.machine !== thisMachine()) throw otherKind(`was made on ${manifest.machine}, and this is ${thisMachine()}`);
  demandContained(manifest.entries);
  return manifest;
}

/** @param cause what was found */
export function damaged(what: string, cause?: unknown): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "backup_damaged",
    message: `The backup is not what was written: ${what}. Nothing was changed.`,
    advice: "Take another copy of it, or an earlier one.",
    cause,
  });
}

/** Every entry lies in a folder of the backup, and none behind a link or outside. */
function demandContained(entries: Readonly<Record<string, BackupEntry>> | undefined): void {
  if (typeof entries !== "object" || entries === null) throw damaged(`${MANIFEST_FILE} has no entries`);
  const folders = new Set<string>();
  for (const [name, { kind }] of Object.entries(entries)) {
    const parts = name.split("/");
    if (parts.some((part) => part === "" || part === "." || part === ".." || part.includes("\0")))
      throw damaged(`it has the path "${name}"`);
    const parent = parts.slice(0, -1).join("/");
    if (parent !== "" && !folders.has(parent)) throw damaged(`"${name}" lies in no folder of it`);
    if (kind === "folder") folders.add(name);
  }
}

function noBackup(folder: string, cause: unknown): HlvmError {
  return new HlvmError({
    code: "not_found",
    reason: "no_backup",
    message: `${folder} is no backup, or one that was not finished.`,
    advice: `\`hlvm backup FOLDER\` writes one; its ${MANIFEST_FILE} comes last.`,
    cause,
  });
}

function otherKind(what: string): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "backup_of_another_kind",
    message: `The backup ${what}.`,
    advice: "Restore it with the hlvm, and on the kind of machine, that it was made with.",
  });
}
