import type { Log } from "@hlvm/log/create-log";
import type { Compared, RewindRequest, Rewound, Runner, ToolRun } from "./isolation.ts";

/** Notes a session's workspace before the first call of each turn that may write, and when the writing is done. */
export class TurnCheckpoints {
  readonly #runner: () => Promise<Runner>;
  readonly #log: Log;
  #turn = "";
  #writers = 0;
  /** What is noted is noted one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(runner: () => Promise<Runner>, log: Log) {
    this.#runner = runner;
    this.#log = log;
  }

  /** Runs a call with its turn noted before. Where that fails the call runs all the same: undo then leaves alone what it cannot tell. */
  async around<Result>({ checkpoint: turn = "", enforcement }: ToolRun, work: () => Promise<Result>): Promise<Result> {
    if (turn === "" || enforcement.profile === "read") return work();
    this.#writers++;
    if (turn !== this.#turn) {
      // What the calls of another turn have written so far, as a worker's beside this one, is the session's own.
      if (this.#writers > 1) this.#note("");
      this.#note(turn);
    }
    this.#turn = turn;
    await this.#last;
    try {
      return await work();
    } finally {
      this.#writers--;
      if (this.#writers === 0) this.#note("");
    }
  }

  /** Has the workspace go back, when what is being noted is. */
  rewind(request: RewindRequest): Promise<Rewound> {
    const rewound = this.#last.then(async () => (await this.#runner()).rewind(request));
    this.#last = rewound.catch(() => undefined);
    this.#turn = "";
    return rewound;
  }

  /** Resolves when what is being noted is. */
  async noted(): Promise<void> {
    await this.#last;
  }

  /** What has changed since the first one, when what is being noted is. */
  compare(): Promise<Compared> {
    const compared = this.#last.then(async () => (await this.#runner()).compare());
    this.#last = compared.catch(() => undefined);
    return compared;
  }

  #note(turn: string): void {
    this.#last = this.#noteAfter(this.#last, turn);
  }

  async #noteAfter(last: Promise<unknown>, turn: string): Promise<void> {
    await last;
    try {
      const failure = await (await this.#runner()).checkpoint(turn);
      if (failure !== "") this.#log.warn({ failure }, "a checkpoint of a workspace could not be made");
    } catch (cause) {
      this.#log.warn({ err: cause }, "a checkpoint of a workspace could not be made");
    }
  }
}
