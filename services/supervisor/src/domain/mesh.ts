import { messageOf } from "@hlvm/errors/message-of";
import type { Log } from "@hlvm/log/create-log";
import { LAYERS, type ManagedProcess } from "./managed-process.ts";
import { SupervisedProcess, type SupervisionPolicy } from "./supervised-process.ts";

export interface MeshEvents {
  /** A line for a person. */
  readonly onProgress: (line: string) => void;
  /** The status of a process is another one. */
  readonly onChange: () => void;
}

/** All processes together: up as fast as what they need of each other allows, and down in order. */
export class Mesh {
  readonly processes: readonly SupervisedProcess[];
  /** The process that could not start, where `start` threw. */
  failedProcess: string | undefined;
  readonly #events: MeshEvents;
  readonly #log: Log;
  #stopped: Promise<void> | undefined;

  constructor(processes: readonly ManagedProcess[], policy: SupervisionPolicy, log: Log, events: MeshEvents) {
    this.#events = events;
    this.#log = log;
    this.processes = processes.map((managed) => new SupervisedProcess(managed, policy, log, events.onChange));
  }

  /** Resolves when every process is up. When one cannot start, the others are taken down and its error is thrown. */
  async start(): Promise<void> {
    const started = new Map<string, Promise<void>>();
    for (const supervised of this.processes) {
      const needed = supervised.managed.needs.map((name) => {
        const earlier = started.get(name);
        if (earlier === undefined) throw new Error(`${supervised.managed.name} stands before ${name}, which it needs`);
        return earlier;
      });
      started.set(supervised.managed.name, this.#start(supervised, needed));
    }
    try {
      await Promise.all(started.values());
    } catch (cause) {
      await this.stop();
      await Promise.allSettled(started.values());
      throw cause;
    }
  }

  /** Resolves when no process of any process is left. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stopAll();
    return this.#stopped;
  }

  async #stopAll(): Promise<void> {
    for (const layer of LAYERS)
      await Promise.all(
        this.processes.filter((supervised) => supervised.managed.layer === layer).map((supervised) => this.#stop(supervised)),
      );
  }

  async #stop(supervised: SupervisedProcess): Promise<void> {
    const since = performance.now();
    await supervised.stop();
    this.#log.info({ process: supervised.managed.name, milliseconds: Math.round(performance.now() - since) }, "down");
  }

  async #start(supervised: SupervisedProcess, needed: readonly Promise<void>[]): Promise<void> {
    const since = performance.now();
    await Promise.all(needed);
    try {
      await supervised.start();
      this.#log.info({ process: supervised.managed.name, milliseconds: Math.round(performance.now() - since) }, "up");
    } catch (cause) {
      if (supervised.managed.without === undefined || this.#stopped !== undefined) {
        this.failedProcess ??= supervised.managed.name;
        throw cause;
      }
      this.#log.warn({ process: supervised.managed.name, err: cause }, "the mesh goes on without it");
      this.#events.onProgress(`${messageOf(cause)} ${supervised.managed.without} (log: ${supervised.managed.logFile})`);
    }
  }
}
