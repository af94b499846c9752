import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "@hlvm/errors/message-of";
import type { Log } from "@hlvm/log/create-log";
import type { Part, RunningPart } from "./part.ts";
import { restartPause, type RestartPolicy } from "./restart-policy.ts";

export interface PartStatus {
  /** `not_answering`: its process is there, and has not answered the last question for its health. */
  readonly state: "up" | "not_answering" | "down";
  /** Since when it is in this state; attempts that fail leave it. */
  readonly since: Date;
  /** Why it is not up. */
  readonly reason?: string;
  /** When it is started again. Absent while a start is under way. */
  readonly nextAttempt?: Date;
}

/**
 * A part and its life. Its first start may fail; once it was up, or where the mesh can do without it, it is started
 * again for ever.
 */
export class SupervisedPart {
  readonly part: Part;
  readonly #policy: RestartPolicy;
  readonly #log: Log;
  readonly #onChange: () => void;
  readonly #stopping = new AbortController();
  #status: PartStatus = { state: "down", since: new Date(), reason: "not started yet" };
  #running: RunningPart | undefined;
  #port: number | undefined;
  #life: Promise<void> = Promise.resolve();

  /** @param onChange its status is another one */
  constructor(part: Part, policy: RestartPolicy, log: Log, onChange: () => void) {
    this.part = part;
    this.#policy = policy;
    this.#log = log.child({ part: part.name });
    this.#onChange = onChange;
  }

  get status(): PartStatus {
    return this.#status;
  }

  /** Undefined while it is down. */
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
      (running) => this.#supervise(running),
      (cause: unknown) => {
        this.#couldNotStart(cause);
        return this.part.without === undefined ? undefined : this.#supervise(undefined);
      },
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
    this.#become({ state: "up", since: new Date() });
    return running;
  }

  async #supervise(first: RunningPart | undefined): Promise<void> {
    let running = first;
    let failures = 0;
    while (!this.#stopping.signal.aborted) {
      if (running !== undefined) {
        const since = performance.now();
        const how = await running.ended;
        this.#running = undefined;
        if (this.#stopping.signal.aborted) return;
        if (performance.now() - since >= this.#policy.resetAfterMilliseconds) failures = 0;
        this.#log.error({ how, logFile: this.part.logFile }, "ended by itself");
        this.#become({ state: "down", since: new Date(), reason: `it ended by itself (${how})` });
      }
      running = await this.#startAgain(failures++);
    }
  }

  /** Undefined where it could not be started, or is to end. */
  async #startAgain(failures: number): Promise<RunningPart | undefined> {
    const pause = restartPause(this.#policy, failures);
    this.#become({ ...this.#status, nextAttempt: new Date(Date.now() + pause) });
    try {
      await sleep(pause, undefined, { signal: this.#stopping.signal });
      this.#become({ ...this.#status, nextAttempt: undefined });
      const running = await this.#startOnce();
      this.#log.warn({ failures, pid: running.pid }, "started again");
      return running;
    } catch (cause) {
      this.#couldNotStart(cause);
      return undefined;
    }
  }

  #couldNotStart(cause: unknown): void {
    if (this.#stopping.signal.aborted) return;
    this.#log.error({ reason: messageOf(cause), logFile: this.part.logFile }, "could not be started");
    this.#become({ ...this.#status, reason: messageOf(cause) });
  }

  #become(status: PartStatus): void {
    this.#status = status;
    this.#onChange();
  }
}
