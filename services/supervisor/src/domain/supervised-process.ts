import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "@hlvm/errors/message-of";
import type { Log } from "@hlvm/log/create-log";
import type { ManagedProcess, RunningProcess } from "./managed-process.ts";
import { failuresAfter, restartPause, type RestartPolicy } from "./restart-policy.ts";
import { watchHealth, type HealthPolicy } from "./watch-health.ts";

export interface ProcessStatus {
  /** `not_answering`: its process is there, and has not answered the last question for its health. */
  readonly state: "up" | "not_answering" | "down";
  /** Since when it is in this state; attempts that fail leave it. */
  readonly since: Date;
  /** Why it is not up. */
  readonly reason?: string;
  /** When it is started again. Absent while a start is under way. */
  readonly nextAttempt?: Date;
}

export interface SupervisionPolicy {
  readonly restart: RestartPolicy;
  readonly health: HealthPolicy;
}

/**
 * A process and its life. Its first start may fail; once it was up, or where the mesh can do without it, it is started
 * again for ever; while it is up it is asked for its health, and restarted where it hangs.
 */
export class SupervisedProcess {
  readonly managed: ManagedProcess;
  readonly #policy: SupervisionPolicy;
  readonly #log: Log;
  readonly #onChange: () => void;
  readonly #stopping = new AbortController();
  #status: ProcessStatus = { state: "down", since: new Date(), reason: "not started yet" };
  #running: RunningProcess | undefined;
  #port: number | undefined;
  #life: Promise<void> = Promise.resolve();

  /** @param onChange its status is another one */
  constructor(managed: ManagedProcess, policy: SupervisionPolicy, log: Log, onChange: () => void) {
    this.managed = managed;
    this.#policy = policy;
    this.#log = log.child({ process: managed.name });
    this.#onChange = onChange;
  }

  get status(): ProcessStatus {
    return this.#status;
  }

  /** Undefined while it is down. */
  get running(): RunningProcess | undefined {
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
        return this.managed.without === undefined ? undefined : this.#supervise(undefined);
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

  async #startOnce(): Promise<RunningProcess> {
    this.#stopping.signal.throwIfAborted();
    const running = await this.managed.start(this.#stopping.signal);
    this.#running = running;
    this.#port = running.port;
    if (this.#stopping.signal.aborted) await running.stop();
    this.#become({ state: "up", since: new Date() });
    return running;
  }

  async #supervise(first: RunningProcess | undefined): Promise<void> {
    let running = first;
    let failures = 0;
    while (!this.#stopping.signal.aborted) {
      if (running !== undefined) {
        const since = performance.now();
        const reason = await this.#untilEnded(running);
        this.#running = undefined;
        if (this.#stopping.signal.aborted) return;
        failures = failuresAfter(this.#policy.restart, failures, performance.now() - since);
        this.#log.error({ reason, logFile: this.managed.logFile }, "ended");
        this.#become({ state: "down", since: new Date(), reason });
      }
      running = await this.#startAgain(failures++);
    }
  }

  /** Ends it where it hangs. @returns how it has ended, for a person */
  async #untilEnded(running: RunningProcess): Promise<string> {
    const over = new AbortController();
    const signal = AbortSignal.any([over.signal, this.#stopping.signal]);
    let hung: Date | undefined;
    const watched = watchHealth(running.check, this.#policy.health, (since) => this.#onSilence(since), signal).then((since) => {
      hung = since;
      if (hung === undefined) return undefined;
      this.#log.error({ since, logFile: this.managed.logFile }, "does not answer and is restarted");
      return running.stop();
    });
    const how = await running.ended;
    over.abort();
    await watched;
    return hung === undefined ? `it ended by itself (${how})` : `it had not answered since ${hung.toISOString()} and was ended (${how})`;
  }

  #onSilence(since: Date | undefined): void {
    if (since === undefined) this.#log.info("answers again");
    else this.#log.warn({ since }, "does not answer");
    this.#become(since === undefined ? { state: "up", since: new Date() } : { state: "not_answering", since });
  }

  /** Undefined where it could not be started, or is to end. */
  async #startAgain(failures: number): Promise<RunningProcess | undefined> {
    const pause = restartPause(this.#policy.restart, failures);
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
    this.#log.error({ reason: messageOf(cause), logFile: this.managed.logFile }, "could not be started");
    this.#become({ ...this.#status, reason: messageOf(cause) });
  }

  #become(status: ProcessStatus): void {
    this.#status = status;
    this.#onChange();
  }
}
