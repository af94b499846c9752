import { writeFileSync } from "node:fs";

/** Files by which a thread moves itself. It is where its processes begin, and costs a hundredth of moving them afterwards. */
export interface GroupEntry {
  /** The `tasks` files of the group, one for each controller. */
  readonly enter: readonly string[];
  /** The `tasks` files of where this process is otherwise. */
  readonly leave: readonly string[];
}

/**
 * Starts processes in the group from this thread, which is back where it was before anything else runs in it. A thread that
 * cannot go back ends.
 *
 * @throws what `start` throws, and an error of the file system where the group is gone
 */
export function startInGroup<T>(entry: GroupEntry, start: () => T): T {
  try {
    moveThread(entry.enter);
    return start();
  } finally {
    if (!canMoveThread(entry.leave)) process.exit(1);
  }
}

/** Whether this thread may write itself into these files. */
export function canMoveThread(files: readonly string[]): boolean {
  try {
    moveThread(files);
    return true;
  } catch {
    return false;
  }
}

/** The kernel reads 0 as the thread that writes it. */
function moveThread(files: readonly string[]): void {
  for (const file of files) writeFileSync(file, "0");
}
