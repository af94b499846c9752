import type { ToolResult } from "./tool-event.ts";

/** The seeds' limit for all tool results of one run. */
const MAXIMUM_RUN_RESULT_BYTES = 2 * 1024 * 1024;
/** Runs of a session follow each other; a few may overlap. */
const REMEMBERED_RUNS = 16;

/** What the results of each run of a session add up to. */
export class ResultBudget {
  readonly #used = new Map<string, number>();

  /** The result as it is, or as much of its content as the run may still have: what the call came to does not change. */
  fit(runId: string, result: ToolResult): ToolResult {
    const used = this.#used.get(runId) ?? 0;
    const bytes = Buffer.byteLength(result.content);
    const room = MAXIMUM_RUN_RESULT_BYTES - used;
    this.#remember(runId, used + Math.min(bytes, room));
    if (bytes <= room) return result;
    const note = `[The run has used up its ${MAXIMUM_RUN_RESULT_BYTES} bytes of tool results. Answer with what is known.]`;
    const shown = new TextDecoder().decode(Buffer.from(result.content).subarray(0, room), { stream: true });
    return { ...result, content: shown === "" ? note : `${shown}\n${note}`, truncated: true };
  }

  #remember(runId: string, used: number): void {
    this.#used.delete(runId);
    this.#used.set(runId, used);
    if (this.#used.size > REMEMBERED_RUNS) this.#used.delete(this.#used.keys().next().value!);
  }
}
