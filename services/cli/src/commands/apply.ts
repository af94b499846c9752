import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute, join, relative } from "node:path";
import { createClient } from "@connectrpc/connect";
import {
  ChangedFile_Content_Kind as Kind,
  SandboxService,
  type ChangedFile,
  type GetChangesResponse,
} from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { protectedPart } from "@hlvm/protected-paths/protected-paths";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { readWorkspace } from "../options/read-workspace.ts";
import { jsonLine } from "../output/json-line.ts";
import { printable } from "../terminal/printable.ts";
import { counted } from "../terminal/sizes.ts";
import { mergeChange, type MergedFile } from "../workspace/merge-change.ts";
import { requireGit, runGit, topFolder } from "../workspace/run-git.ts";
import { requireLinkWithin, safePath } from "../workspace/safe-path.ts";
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
  const files = await mergeAll(folder, changes.files);
  const conflicts = files.filter(({ merged }) => merged.outcome === "conflict");
  const writes = flags.check !== true && (conflicts.length === 0 || flags.conflicts === true);
  if (writes) writeMerged(folder, files.flatMap(writingOf));
  if (flags.json === true) writeJson(files, changes, writes);
  else show(files, changes, writes, { folder, flags, context });
  return conflicts.length === 0 ? EXIT_OK : EXIT_CONFLICTS;
}

/** All is checked before anything is merged. */
async function mergeAll(folder: string, changes: readonly ChangedFile[]): Promise<MergedFile[]> {
  const hooks = await hooksFolder(folder);
  const paths = changes.map(({ path }) => safePath(path, folder, hooks));
  requireNoFileAbove(new Set(changes.flatMap(({ after }, index) => (after === undefined ? [] : [paths[index]!]))));
  changes.forEach(({ after }, index) => {
    if (after?.kind === Kind.LINK) requireLinkWithin(paths[index]!, after.bytes);
  });
  const temporary = mkdtempSync(join(tmpdir(), "hlvm-apply-"));
  try {
    const files: MergedFile[] = [];
    for (const [index, change] of changes.entries()) files.push(await mergeChange(folder, paths[index]!, change, temporary));
    return files;
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** No tree of files has a file in a file: it would be a link that the other is written through. */
function requireNoFileAbove(written: ReadonlySet<string>): void {
  for (const path of written) {
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
      if (!written.has(path.slice(0, end))) continue;
      throw new HlvmError({
        code: "permission_denied",
        reason: "change_not_allowed",
        message: `Nothing was changed: the session's change of ${JSON.stringify(path)} is refused, since ${path.slice(0, end)} is no folder.`,
        advice: "No repository holds such a change: look at what the session did (`hlvm session show`).",
      });
    }
  }
}

/** Relative to the folder, where the repository keeps its hooks among its files. */
async function hooksFolder(folder: string): Promise<string | undefined> {
  const { exitCode } = await runGit(["rev-parse", "--git-dir"], { folder });
  if (exitCode !== 0) return undefined;
  const configured = (await runGit(["config", "--file", await configFile(folder), "--path", "core.hooksPath"], { folder })).output;
  const path = configured.toString("utf8").trim();
  if (path === "") return undefined;
  const inside = relative(folder, isAbsolute(path) ? path : join(folder, path));
  return inside === "" || inside.startsWith("..") ? undefined : inside;
}

/** This command's own git has another folder for hooks, so the setting is read from where it stands. */
async function configFile(folder: string): Promise<string> {
  return requireGit(["rev-parse", "--path-format=absolute", "--git-path", "config"], { folder });
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
    const told = merged.outcome === "same" ? "here already" : merged.outcome === "conflict" ? `conflict: ${merged.why}` : change;
    process.stdout.write(`${printable(path).replaceAll("\n", "\\n")}  ${told}\n`);
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
