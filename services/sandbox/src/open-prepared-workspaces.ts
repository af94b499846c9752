import { join } from "node:path";
import { fetchFromFolder } from "./adapters/git/fetch-from-folder.ts";
import { fetchFromServer } from "./adapters/git/fetch-from-server.ts";
import { LocalFolders } from "./adapters/local-folders.ts";
import { PreparedFoldersOnDisk } from "./adapters/prepared-folders-on-disk.ts";
import { SessionFolders } from "./adapters/session-folders.ts";
import type { Isolation } from "./domain/isolation.ts";
import type { Placements } from "./domain/placement/placements.ts";
import { PreparedWorkspaces } from "./domain/prepared/prepared-workspaces.ts";
import { SandboxedGit } from "./domain/prepared/sandboxed-git.ts";

const MEBIBYTE = 1024 * 1024;

export interface PreparedWorkspacesSettings {
  readonly stateDirectory: string;
  readonly workspaceMebibytes: number;
  readonly workspaceDays: number;
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
  const fetch = { https: fetchFromServer(settings.gitPrivateHosts), file: fetchFromFolder(settings.gitFolders, git) };
  const prepared = new PreparedWorkspaces({ folders: onDisk, git, fetch, placements, maximumBytes });
  return { prepared, folders: new SessionFolders(new LocalFolders(protectedPaths), onDisk) };
}
