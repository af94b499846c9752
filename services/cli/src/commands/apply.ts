import { createClient } from "@connectrpc/connect";
import { SandboxService, type GetChangesResponse } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { protectedPart } from "@hlvm/protected-paths/protected-paths";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { readWorkspace } from "../options/read-workspace.ts";
import { jsonLine } from "../output/json-line.ts";
import { printable } from "../terminal/printable.ts";
import { counted } from "../terminal/sizes.ts";
import type { MergedFile } from "../workspace/merge-change.ts";
import { mergeChanges } from "../workspace/merge-changes.ts";
import { topFolder } from "../workspace/run-git.ts";
import { writeMerged, type Writing } from "../workspace/write-merged.ts";

/** What could not be merged: nothing was written, or markers where they were asked for. */
export const EXIT_CONFLICTS = 3;
const CALL_MILLISECONDS = 330_000;
const SHOWN_CONFLICT_LINES = 40;

export interface ApplyFlags {
  readonly check?: boolean;
  /** Leave markers in the files where lines were changed on both sides. */
  readonly conflicts?: boolean;
  readonly json?: boolean;
}

/** Brings home what a session changed in its own workspace. */
export async function apply(sessionId: string, flags: ApplyFlags, context: CommandContext): Promise<number> {
  const current = readWorkspace(".");
  const changes = await withMesh(context, (transport) =>
    createClient(SandboxService, transport).getChanges({ sessionId }, { timeoutMs: CALL_MILLISECONDS }),
  );
  const folder = (await topFolder(current)) ?? current;
  const files = await mergeChanges(folder, changes.files);
  const conflicts = files.filter(({ merged }) => merged.outcome === "conflict");
  const writes = flags.check !== true && (conflicts.length === 0 || flags.conflicts === true);
  if (writes) writeMerged(folder, files.flatMap(writingOf));
  if (flags.json === true) writeJson(files, changes, writes);
  else show(files, changes, writes, { folder, flags, context });
  return conflicts.length === 0 ? EXIT_OK : EXIT_CONFLICTS;
}

function writingOf({ path, here, merged }: MergedFile): Writing[] {
  if (merged.outcome === "clean") return [{ path, here, content: merged.content }];
  return merged.outcome === "conflict" && merged.marked !== undefined ? [{ path, here, content: merged.marked }] : [];
}

function writeJson(files: readonly MergedFile[], { leftOut }: GetChangesResponse, written: boolean): void {
  for (const { path, change, merged } of files) {
    const conflict = merged.outcome === "conflict" ? { why: merged.why, marked: merged.marked !== undefined } : {};
    process.stdout.write(jsonLine({ type: "file", path, change, outcome: merged.outcome, ...conflict }));
  }
  const conflicts = files.filter(({ merged }) => merged.outcome === "conflict").length;
  process.stdout.write(jsonLine({ type: "final", files: files.length, conflicts, written, left_out: leftOut }));
}

interface Shown {
  readonly folder: string;
  readonly flags: ApplyFlags;
  readonly context: CommandContext;
}

function show(files: readonly MergedFile[], { leftOut }: GetChangesResponse, written: boolean, { folder, flags, context }: Shown): void {
  const { screen } = context;
  for (const { path, change, merged } of files) {
    const state = merged.outcome === "same" ? "here already" : merged.outcome === "conflict" ? `conflict: ${merged.why}` : change;
    process.stdout.write(`${printable(path).replaceAll("\n", "\\n")}  ${state}\n`);
    if (merged.outcome === "conflict" && merged.marked !== undefined)
      for (const line of conflictLines(merged.marked.bytes)) process.stdout.write(`    ${printable(line)}\n`);
  }
  for (const { path, merged } of files) {
    const obeyed = merged.outcome === "clean" ? protectedPart(path) : undefined;
    if (obeyed !== undefined) screen.note(`${path} is obeyed by ${obeyed.obeyer}: read the change before you go on.`, "warning");
  }
  for (const path of leftOut) screen.note(`${path} is left out: it is a repository within the workspace.`, "warning");
  const conflicts = files.filter(({ merged }) => merged.outcome === "conflict").length;
  if (files.length === 0) return screen.note("The session has changed nothing.");
  if (conflicts === 0) return screen.note(written ? `Done in ${folder}.` : "It can be applied; nothing was written.");
  const rest = `${counted(conflicts, "conflict")}.`;
  if (written)
    return screen.note(`${rest} Lines that were changed on both sides are marked in the files; all else is as you left it.`, "warning");
  screen.note(
    `${rest} Nothing was written.${flags.check === true ? "" : " --conflicts applies the rest and marks the lines in the files."}`,
    "warning",
  );
}

/** What stands between the markers, with them. */
function conflictLines(marked: Uint8Array): string[] {
  let isInside = false;
  const lines: string[] = [];
  for (const line of Buffer.from(marked).toString("utf8").split("\n")) {
    if (line.startsWith("<<<<<<< here")) isInside = true;
    if (isInside) lines.push(line);
    if (line.startsWith(">>>>>>> session")) isInside = false;
  }
  return lines.length <= SHOWN_CONFLICT_LINES ? lines : [...lines.slice(0, SHOWN_CONFLICT_LINES), "…"];
}
