import { EXIT_OK } from "../command.ts";
import { Interrupts } from "./interrupts.ts";

/**
 * Does something that a person may stop at any time, and whose output a reader may leave.
 * @param work is given what a Ctrl-C does that it reads itself
 * @returns the exit code: 128 and the signal's number where it was stopped, whatever came of it then
 */
export async function untilInterrupted(work: (signal: AbortSignal, interrupt: () => void) => Promise<void>): Promise<number> {
  using interrupts = new Interrupts();
  try {
    await work(interrupts.signal, () => interrupts.interrupt(130));
  } catch (thrown) {
    if (!interrupts.signal.aborted) throw thrown;
  }
  return interrupts.exitCode ?? EXIT_OK;
}
