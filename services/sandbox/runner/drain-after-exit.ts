import type { ChildProcess } from "node:child_process";

/** How long a pipe may stay open after its process has ended: a daemon that was left behind holds it. */
const DRAIN_MILLISECONDS = 50;

/** Reads on for a moment after a process has ended, then lets go of its output: it tells its `close` in any case. */
export function drainAfterExit(child: ChildProcess): void {
  child.once("exit", () =>
    setTimeout(() => {
      child.stdout?.destroy();
      child.stderr?.destroy();
    }, DRAIN_MILLISECONDS),
  );
}
