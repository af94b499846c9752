import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "@hlvm/errors/message-of";
import type { Log } from "@hlvm/log/create-log";
import type { Part, RunningPart } from "./part.ts";

export interface Patience {
  /** Waits before each start anew; when they are used up the part is given up. */
  readonly restartMilliseconds: readonly number[];
  /** A part that was up for this long gets all its restarts again. */
  readonly steadyMilliseconds: number;
}

/**
 * A part and its life. Its first start may fail; once it was up, it is started anew when it ends, a few times and ever
 * more slowly.
 */
export class KeptPart {
  readonly part: Part;
  readonly #patience: Patience;
  readonly #log: Log;
  readonly #onChange: () => void;
  readonly #stopping = new AbortController();
  #running: RunningPart | undefined;
  #port: number | undefined;
  #life: Promise<void> = Promise.resolve();

  /** @param onChange it has ended by itself, or is up again */
  constructor(part: Part, patience: Patience, log: Log, onChange: () => void) {
    this.part = part;
    this.#patience = patience;
    this.#log = log.child({ part: part.name });
    this.#onChange = onChange;
  }

  /** Undefined before it is up, between two starts, and after its end. */
  get running(): RunningPart | undefined {
    return this.#running;
  }

  /** Where it listens, or did when it was last up. */
  get port(): number | undefined {
    return this.#port;
  }

  /** Resolves when it is up for the first time; throws what its start throws. */
  async start(): Promise<void> {
    const first = this.#startOnce();
    this.#life = first.then(
      (running) => this.#keep(running),
      () => undefined,
    );
    await first;
  }

  /** Ends a start under way, too; resolves when no process is left. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running?.stop();
    await this.#life;
  }

  async #startOnce(): Promise<RunningPart> {
    this.#stopping.signal.throwIfAborted();
    const running = await this.part.start(this.#stopping.signal);
    this.#running = running;
    this.#port = running.port;
    if (this.#stopping.signal.aborted) await running.stop();
    return running;
  }

  async #keep(first: RunningPart): Promise<void> {
    let running = first;
    let restarts = 0;
    for (;;) {
      const since = Date.now();
      const how = await running.ended;
      this.#running = undefined;
      if (this.#stopping.signal.aborted) return;
      if (Date.now() - since >= this.#patience.steadyMilliseconds) restarts = 0;
      this.#log.error({ how, logFile: this.part.logFile }, "ended by itself");
      this.#onChange();
      const again = await this.#startAgain(restarts);
      if (again === undefined) return;
      restarts = again.restarts;
      running = again.running;
      this.#onChange();
    }
  }

  async #startAgain(before: number): Promise<{ running: RunningPart; restarts: number } | undefined> {
    let restarts = before;
    for (const wait of this.#patience.restartMilliseconds.slice(before)) {
      restarts++;
      try {
        await sleep(wait, undefined, { signal: this.#stopping.signal });
        const running = await this.#startOnce();
        this.#log.warn({ restarts, pid: running.pid }, "started again");
        return { running, restarts };
      } catch (cause) {
        if (this.#stopping.signal.aborted) return undefined;
        this.#log.error({ restarts, reason: messageOf(cause) }, "could not be started again");
      }
    }
    this.#log.error({ restarts, logFile: this.part.logFile }, "given up");
    return undefined;
  }
}
