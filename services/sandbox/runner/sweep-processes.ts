import { currentShell } from "./current-shell.ts";

/** Ends every process of the sandbox but this one, also what has detached itself from whatever started it. */
export function sweepProcesses(): void {
  currentShell.forget();
  try {
    process.kill(-1, "SIGKILL");
  } catch {
    // There is no other.
  }
}
