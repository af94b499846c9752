import { statSync } from "node:fs";
import { resolve } from "node:path";
import { restoreLocked } from "@hlvm/backup/restore-locked";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { backUp } from "@hlvm/mesh/back-up";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { connectMesh } from "../mesh/connect-mesh.ts";
import { jsonLine } from "../output/json-line.ts";

const MEGABYTE = 1_000_000;

/** Writes all data of this machine's mesh, started for it where none is up, into a new folder. */
export async function backup(folder: string, flags: { json?: boolean }, context: CommandContext): Promise<number> {
  const mesh = await connectMesh(context);
  try {
    if (mesh.state === undefined) throw elsewhere();
    context.screen.status("writing the backup");
    const { createdAt, files, bytes, folder: written } = await backUp(mesh.state.controlSocket, resolve(folder));
    context.screen.status("");
    if (flags.json === true) process.stdout.write(jsonLine({ folder: written, created_at: createdAt, files, bytes }));
    else {
      context.screen.note(`${files} files, ${(bytes / MEGABYTE).toFixed(1)} MB, are in ${written}.`);
      context.screen.note("There are keys in it: keep it as you keep those. `hlvm restore` brings it back.", "warning");
    }
    return EXIT_OK;
  } finally {
    await mesh.release();
  }
}

/** Brings a backup back into this machine's HLVM directory, where no mesh is up. */
export async function restore(
  folder: string,
  flags: { readonly replace?: boolean; readonly json?: boolean },
  { config, screen }: CommandContext,
): Promise<number> {
  const from = resolve(folder);
  if (statSync(from, { throwIfNoEntry: false })?.isDirectory() !== true) throw missing(from);
  screen.status("restoring; what is copied is compared with its checksums");
  const { createdAt, replaced } = await restoreLocked(from, config.directory, flags.replace === true);
  screen.status("");
  if (flags.json === true) process.stdout.write(jsonLine({ directory: config.directory, created_at: createdAt, replaced }));
  else {
    screen.note(`${config.directory} is as it was at ${createdAt}; \`hlvm up\` starts it.`);
    if (replaced !== "") screen.note(`What was there is in ${replaced}; remove it when you need it no more.`);
  }
  return EXIT_OK;
}

function missing(folder: string): HlvmError {
  return new HlvmError({
    code: "not_found",
    reason: "no_backup",
    message: `There is no folder ${folder}.`,
    advice: "Name the folder that `hlvm backup FOLDER` has written.",
  });
}

function elsewhere(): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "mesh_elsewhere",
    message: "The mesh that was chosen is elsewhere, and its data are not on this machine.",
    advice: "Run the command there. In a cluster the databases are backed up with PostgreSQL's own tools.",
  });
}
