import { ResidentShell } from "./resident-shell.ts";

let current: ResidentShell | undefined;

/** The shell that stays for the next command, where there is one. */
export const currentShell = {
  /** Starts one where none is left. Where none can be started, the next command starts its own. */
  prepare(): void {
    if (current !== undefined && !current.isLeaving) return;
    try {
      current = new ResidentShell();
    } catch {
      current = undefined;
    }
  },

  /** It is about to be ended. */
  forget(): void {
    current = undefined;
  },

  /** @returns undefined where none waits, or where the command is not for it */
  for(command: string): ResidentShell | undefined {
    return current?.canRun(command) === true ? current : undefined;
  },
};
