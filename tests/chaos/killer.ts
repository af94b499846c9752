import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { readMeshState } from "@hlvm/mesh/mesh-state";
import type { Harm } from "./plan-harm.ts";

/** What was planned, and what was found when it was due. */
export type JournalEntry = Harm & {
  readonly number: number;
  /** Since the killer began. */
  readonly atMilliseconds: number;
  /** Undefined: the part was down just then, and nothing was done. */
  readonly pid: number | undefined;
};

export interface KillerOptions {
  /** The HLVM directory of the mesh. */
  readonly directory: string;
  readonly harms: Iterator<Harm, void>;
  readonly pauseMilliseconds: number;
  /** Gets a line of JSON for everything that is done. */
  readonly journalFile: string;
  /** Called before each harm. */
  readonly onBeat: () => void;
}

/** Harms one part after the other until it is stopped or the plan is at its end. Never the supervisor. */
export class Killer {
  readonly journal: JournalEntry[] = [];
  readonly #options: KillerOptions;
  readonly #stopping = new AbortController();
  readonly #frozen = new Map<number, NodeJS.Timeout>();
  readonly #began = performance.now();
  readonly #done: Promise<void>;

  constructor(options: KillerOptions) {
    this.#options = options;
    this.#done = this.#run();
  }

  /** Resolves when the plan is at its end, or the killer was stopped. */
  get done(): Promise<void> {
    return this.#done;
  }

  /** Ends the harm: whatever is frozen goes on. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#done;
    for (const [pid, timer] of this.#frozen) {
      clearTimeout(timer);
      send(pid, "SIGCONT");
    }
    this.#frozen.clear();
  }

  async #run(): Promise<void> {
    const { harms, pauseMilliseconds, onBeat } = this.#options;
    const { signal } = this.#stopping;
    for (;;) {
      await sleep(pauseMilliseconds, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      onBeat();
      const { value: harm, done } = harms.next();
      if (done === true || harm === undefined) return;
      this.#do(harm);
    }
  }

  #do(harm: Harm): void {
    const { directory, journalFile } = this.#options;
    const pid = readMeshState(directory)?.services.find(({ name }) => name === harm.part)?.pid;
    const entry = { number: this.journal.length + 1, atMilliseconds: Math.round(performance.now() - this.#began), pid, ...harm };
    this.journal.push(entry);
    appendFileSync(journalFile, `${JSON.stringify(entry)}\n`);
    if (pid === undefined) return;
    if (harm.kind === "kill") return send(pid, "SIGKILL");
    send(pid, "SIGSTOP");
    clearTimeout(this.#frozen.get(pid));
    const thaw = (): void => {
      this.#frozen.delete(pid);
      send(pid, "SIGCONT");
    };
    this.#frozen.set(pid, setTimeout(thaw, harm.milliseconds));
  }
}

/** A process that has just ended needs no signal. */
function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "ESRCH") throw thrown;
  }
}
