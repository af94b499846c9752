import { constants, realpathSync } from "node:fs";
import { access, lstat, open, realpath, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { WorkspaceFolder, WorkspaceFolders } from "../domain/workspace-folder.ts";

const KERNEL_FOLDERS = ["/proc", "/sys", "/dev"];
const MAXIMUM_HEAD_BYTES = 1_024;

/** Folders of this machine. */
export class LocalFolders implements WorkspaceFolders {
  readonly #protected: readonly string[];

  /** @param protectedPaths what no sandbox may see: a workspace can neither hold them nor lie in them; they exist */
  constructor(protectedPaths: readonly string[]) {
    this.#protected = protectedPaths.map((path) => realpathSync(path));
  }

  async inspect(path: string): Promise<WorkspaceFolder> {
    const real = await readableFolder(path);
    const kernel = KERNEL_FOLDERS.find((folder) => isWithin(real, folder));
    if (kernel !== undefined) throw notAllowed(path, `it lies in ${kernel}`);
    for (const secret of this.#protected) {
      if (isWithin(secret, real) || isWithin(real, secret)) throw notAllowed(path, `HLVM keeps its own data in ${secret}`);
    }
    return { path: real, ...(await gitFacts(real)) };
  }
}

async function readableFolder(path: string): Promise<string> {
  try {
    const real = await realpath(path);
    if (!(await stat(real)).isDirectory())
      throw new HlvmError({
        code: "failed_precondition",
        reason: "workspace_not_a_folder",
        message: `The workspace ${path} is a file.`,
        advice: "Give the folder that it lies in.",
      });
    await access(real, constants.R_OK | constants.X_OK);
    return real;
  } catch (cause) {
    if (cause instanceof HlvmError) throw cause;
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR")
      throw new HlvmError({
        code: "not_found",
        reason: "workspace_not_found",
        message: `The workspace ${path} does not exist.`,
        advice: "Give the path of a folder on the machine where HLVM runs.",
        cause,
      });
    throw new HlvmError({
      code: "failed_precondition",
      reason: "workspace_not_readable",
      message: `The workspace ${path} cannot be read: ${(cause as Error).message}.`,
      advice: "Give read permission on it to the user that HLVM runs as, or choose another folder.",
      cause,
    });
  }
}

/** Reads one line of the repository and runs nothing: no git program touches a workspace outside its sandbox. */
async function gitFacts(folder: string): Promise<Pick<WorkspaceFolder, "isGitRepository" | "gitBranch">> {
  const repository = join(folder, ".git");
  try {
    if (!(await lstat(repository)).isDirectory()) return { isGitRepository: false, gitBranch: "" };
    const handle = await open(join(repository, "HEAD"), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(MAXIMUM_HEAD_BYTES), 0, MAXIMUM_HEAD_BYTES, 0);
      const branch = /^ref: refs\/heads\/([\w./-]+)\s*$/.exec(buffer.toString("utf8", 0, bytesRead))?.[1];
      return { isGitRepository: true, gitBranch: branch ?? "" };
    } finally {
      await handle.close();
    }
  } catch {
    return { isGitRepository: false, gitBranch: "" };
  }
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function notAllowed(path: string, why: string): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "workspace_not_allowed",
    message: `${path} cannot be a workspace: ${why}.`,
    advice: "Choose the folder of one project.",
  });
}
