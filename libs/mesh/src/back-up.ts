import type { ErrorFields } from "@hlvm/errors/hlvm-error";
import { askSupervisor } from "./ask-supervisor.ts";
import { backUpCommand } from "./control-protocol.ts";

/** A disk writes some 100 MB a second: enough for 300 GB. */
const DEADLINE_MILLISECONDS = 3_600_000;

export interface BackupSummary {
  readonly folder: string;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly files: number;
  readonly bytes: number;
}

/** What the supervisor answers. */
export type BackupAnswer = BackupSummary | { readonly failed: ErrorFields };

/**
 * Has the supervisor of a mesh write all its data into a new folder. Nothing is interrupted.
 * @param folder absolute
 * @throws HlvmError `mesh_gone`, or the supervisor's own
 */
export function backUp(controlSocket: string, folder: string): Promise<BackupSummary> {
  const asked = { message: backUpCommand(folder), deadlineMilliseconds: DEADLINE_MILLISECONDS, unfinished: "the backup was written" };
  return askSupervisor(controlSocket, asked);
}
