import { EXIT_OK } from "../command.ts";
import { Interrupts } from "./interrupts.ts";

/**
 * Does something that a person may stop at any time, and whose output a reader may leave.
 * @returns the exit code: 128 and the signal's number where it was stopped, whatever came of it then
 */
export async function untilInterrupted(work: (signal: AbortSignal) => Promise<void>): Promise<number> {
  using interrupts = new Interrupts();
  try {
    await work(interrupts.signal);
  } catch (thrown) {
    if (!interrupts.signal.aborted) throw thrown;
  }
  return interrupts.exitCode ?? EXIT_OK;
}
