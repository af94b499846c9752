import { createClient } from "@connectrpc/connect";
import { SandboxService, type ChangedFile, type GetChangesResponse } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { jsonLine } from "../output/json-line.ts";
import { printable } from "../terminal/printable.ts";
import { counted } from "../terminal/sizes.ts";
import { gitPatch, isBinary, quotedPath } from "../workspace/git-patch.ts";

const CALL_MILLISECONDS = 330_000;
const SHOWN = 40;

/**
 * Shows what a session changed in its workspace, from its first checkpoint to now, as a patch on standard output: made
 * printable on a terminal, else byte for byte. What is not in the patch is named on standard error.
 */
export async function sessionDiff(sessionId: string, flags: { readonly json?: boolean }, context: CommandContext): Promise<number> {
  const changes = await withMesh(context, (transport) =>
    createClient(SandboxService, transport).getChanges({ sessionId, anyWorkspace: true }, { timeoutMs: CALL_MILLISECONDS }),
  );
  if (flags.json === true) writeJson(changes);
  else {
    for (const file of changes.files) {
      const patch = gitPatch(file);
      process.stdout.write(process.stdout.isTTY ? printable(patch.toString("utf8")) : patch);
    }
    tellRest(changes, context);
  }
  return EXIT_OK;
}

function tellRest(changes: GetChangesResponse, { screen }: CommandContext): void {
  const { files, furtherChanges } = changes;
  const leftOut = leftOutOf(changes);
  if (files.length === 0 && leftOut.length === 0) screen.note("The session has changed nothing.");
  for (const { path, why } of leftOut.slice(0, SHOWN)) screen.note(`${path} is left out: ${why}.`, "warning");
  const unnamed = furtherChanges + Math.max(0, leftOut.length - SHOWN);
  if (unnamed > 0) screen.note(`${counted(unnamed, "further change")} left out.`, "warning");
  const others = files.filter(({ changedByOthers }) => changedByOthers).map(({ path }) => quotedPath("", path));
  if (others.length === 0) return;
  const more = others.length > SHOWN ? `, and ${others.length - SHOWN} more` : "";
  screen.note(`Others changed these too, which is in the patch: ${others.slice(0, SHOWN).join(", ")}${more}.`, "warning");
}

function writeJson(changes: GetChangesResponse): void {
  for (const file of changes.files) {
    const { path, changedByOthers } = file;
    process.stdout.write(
      jsonLine({
        type: "file",
        path: Buffer.from(path).toString("utf8"),
        change: changeOf(file),
        binary: isBinary(file),
        changed_by_others: changedByOthers,
        patch: gitPatch(file).toString("utf8"),
      }),
    );
  }
  const { files, furtherChanges } = changes;
  process.stdout.write(jsonLine({ type: "final", files: files.length, left_out: leftOutOf(changes), further_changes: furtherChanges }));
}

function changeOf({ before, after }: ChangedFile): string {
  return before === undefined ? "added" : after === undefined ? "deleted" : "modified";
}

function leftOutOf({ leftOut, leftOutChanges }: GetChangesResponse): { path: string; why: string }[] {
  return [
    ...leftOutChanges.map(({ path, why }) => ({ path: quotedPath("", path), why })),
    ...leftOut.map((path) => ({ path: quotedPath("", Buffer.from(path)), why: "it is a repository within the workspace" })),
  ];
}
