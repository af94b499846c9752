import { statSync } from "node:fs";
import { folderIdentity } from "./folder-identity.ts";
import { WORKSPACE } from "./workspace-path.ts";

/** Ends this process where another folder is mounted than the session was opened on: its path may change while bwrap looks it up. */
export function requireWorkspace(): void {
  if (folderIdentity(statSync(WORKSPACE, { bigint: true })) === process.env.HLVM_WORKSPACE_IDENTITY) return;
  console.error("another folder has taken the place of the one that the session was opened on");
  process.exit(1);
}
