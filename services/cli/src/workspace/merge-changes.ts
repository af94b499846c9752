import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute, join, relative } from "node:path";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { ChangedFile_Content_Kind as Kind, type ChangedFile } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { mergeChange, type MergedFile } from "./merge-change.ts";
import { requireGit, runGit } from "./run-git.ts";
import { requireLinkWithin, safePath } from "./safe-path.ts";

/** Merges what a session changed with what is in a folder; writes nothing. All is checked first. @throws HlvmError `change_not_allowed` */
export async function mergeChanges(folder: string, changes: readonly ChangedFile[]): Promise<MergedFile[]> {
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
