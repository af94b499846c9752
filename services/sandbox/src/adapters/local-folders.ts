import { constants, realpathSync } from "node:fs";
import { access, lstat, open, readlink, stat, type FileHandle } from "node:fs/promises";
import { homedir } from "node:os";
import { join, normalize, sep } from "node:path";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { messageOf } from "@hlvm/errors/message-of";
import { folderIdentity } from "../../runner/folder-identity.ts";
import type { WorkspaceFolder } from "../domain/workspace-folder.ts";

/** The machine's own, with all below: a tool that works there works on the machine, and not on somebody's project. */
const SYSTEM_FOLDERS = ["/proc", "/sys", "/dev", "/etc", "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/boot", "/run"]
  .concat(["/root/.ssh", "/root/.gnupg"])
  .concat(["/var/lib", "/var/log", "/var/run", "/var/spool", "/var/cache"]);
/** Those that hold the homes and files of many: what lies below may be a project. */
const SHARED_FOLDERS = new Set(["/", "/home", "/root", "/var", "/opt", "/srv", "/mnt", "/media", "/tmp", "/var/tmp", homedir()]);
const MAXIMUM_HEAD_BYTES = 1_024;

/** Folders of this machine. */
export class LocalFolders {
  readonly #protected: readonly string[];

  /** @param protectedPaths what no sandbox may see: a workspace can neither hold them nor lie in them; they exist */
  constructor(protectedPaths: readonly string[]) {
    this.#protected = protectedPaths.map((path) => realpathSync(path));
  }

  inspect(path: string): Promise<WorkspaceFolder> {
    this.#requireAllowed(normalize(path).replace(/(?<=.)\/$/, ""), path);
    return inspectFolder(path, (real) => this.#requireAllowed(real, path));
  }

  #requireAllowed(real: string, path: string): void {
    const system = SYSTEM_FOLDERS.find((folder) => isWithin(real, folder));
    if (system !== undefined) throw notAllowed(path, `it lies in ${system}, which belongs to the machine`);
    if (SHARED_FOLDERS.has(real)) throw notAllowed(path, "it is no project, but holds the homes or files of many");
    for (const secret of this.#protected) {
      if (isWithin(secret, real) || isWithin(real, secret)) throw notAllowed(path, `HLVM keeps its own data in ${secret}`);
    }
  }
}

/** @param requireAllowed is given where the path leads to. @throws HlvmError `workspace_not_found`, `workspace_not_readable` */
export async function inspectFolder(path: string, requireAllowed: (real: string) => void = () => undefined): Promise<WorkspaceFolder> {
  const handle = await openFolder(path);
  try {
    // All is told by what was opened: the path may lead elsewhere in the next moment.
    const held = `/proc/self/fd/${handle.fd}`;
    const real = await readlink(held);
    requireAllowed(real);
    await access(held, constants.X_OK).catch((cause: unknown) => {
      throw notReadable(path, cause);
    });
    return { path: real, identity: folderIdentity(await handle.stat({ bigint: true })), ...(await gitFacts(held)) };
  } finally {
    await handle.close();
  }
}

async function openFolder(path: string): Promise<FileHandle> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code !== "ENOENT" && code !== "ENOTDIR") throw notReadable(path, cause);
    if (code === "ENOTDIR" && (await stat(path).catch(() => undefined)) !== undefined)
      throw new HlvmError({
        code: "failed_precondition",
        reason: "workspace_not_a_folder",
        message: `The workspace ${path} is a file.`,
        advice: "Give the folder that it lies in.",
        cause,
      });
    throw new HlvmError({
      code: "not_found",
      reason: "workspace_not_found",
      message: `The workspace ${path} does not exist.`,
      advice: "Give the path of a folder on the machine where HLVM runs.",
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

function notReadable(path: string, cause: unknown): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "workspace_not_readable",
    message: `The workspace ${path} cannot be read: ${messageOf(cause)}.`,
    advice: "Give read permission on it to the user that HLVM runs as, or choose another folder.",
    cause,
  });
}

function notAllowed(path: string, why: string): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "workspace_not_allowed",
    message: `${path} cannot be a workspace: ${why}.`,
    advice: "Choose the folder of one project.",
  });
}
