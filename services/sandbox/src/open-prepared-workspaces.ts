import { join } from "node:path";
import { BundlesOnDisk } from "./adapters/bundles-on-disk.ts";
import { fetchFromFolder } from "./adapters/git/fetch-from-folder.ts";
import { fetchFromServer } from "./adapters/git/fetch-from-server.ts";
import { LocalFolders } from "./adapters/local-folders.ts";
import { PreparedFoldersOnDisk } from "./adapters/prepared-folders-on-disk.ts";
import { SessionFolders } from "./adapters/session-folders.ts";
import type { Isolation } from "./domain/isolation.ts";
import type { Placements } from "./domain/placement/placements.ts";
import { CopiedWorkspaces } from "./domain/prepared/copied-workspaces.ts";
import { PreparedWorkspaces } from "./domain/prepared/prepared-workspaces.ts";
import { SandboxedGit } from "./domain/prepared/sandboxed-git.ts";

const MEBIBYTE = 1024 * 1024;

export interface PreparedWorkspacesSettings {
  readonly stateDirectory: string;
  readonly workspaceMebibytes: number;
  readonly workspaceDays: number;
  /** Empty: there are none. */
  readonly images: string;
  readonly gitPrivateHosts: readonly string[];
  readonly gitFolders: readonly string[];
}

interface Parts {
  readonly isolation: Isolation;
  readonly placements: Placements;
  /** What no sandbox may see. */
  readonly protectedPaths: readonly string[];
}

/** The workspaces that the service makes itself, and the folders of all sessions, theirs among them. */
export function openPreparedWorkspaces(settings: PreparedWorkspacesSettings, { isolation, placements, protectedPaths }: Parts) {
  const maximumBytes = settings.workspaceMebibytes * MEBIBYTE;
  const directory = join(settings.stateDirectory, "workspaces");
  const onDisk = new PreparedFoldersOnDisk({ directory, maximumBytes, keptDays: settings.workspaceDays });
  const git = new SandboxedGit(isolation);
  const images = new BundlesOnDisk(settings.images);
  const fetch = { https: fetchFromServer(settings.gitPrivateHosts), file: fetchFromFolder(settings.gitFolders, git) };
  const prepared = new PreparedWorkspaces({ folders: onDisk, git, fetch, placements, images, maximumBytes });
  const copied = new CopiedWorkspaces({ folders: onDisk, git, placements, isolation });
  return { prepared, copied, folders: new SessionFolders(new LocalFolders(protectedPaths), onDisk, images) };
}
