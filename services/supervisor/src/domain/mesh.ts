import { messageOf } from "@hlvm/errors/message-of";
import type { Log } from "@hlvm/log/create-log";
import { LAYERS, type Part } from "./part.ts";
import { SupervisedPart, type SupervisionPolicy } from "./supervised-part.ts";

export interface MeshEvents {
  /** A line for a person. */
  readonly onProgress: (line: string) => void;
  /** The status of a part is another one. */
  readonly onChange: () => void;
}

/** All parts together: up as fast as what they need of each other allows, and down in order. */
export class Mesh {
  readonly parts: readonly SupervisedPart[];
  /** The part that could not start, where `start` threw. */
  failedPart: string | undefined;
  readonly #events: MeshEvents;
  readonly #log: Log;
  #stopped: Promise<void> | undefined;

  constructor(parts: readonly Part[], policy: SupervisionPolicy, log: Log, events: MeshEvents) {
    this.#events = events;
    this.#log = log;
    this.parts = parts.map((part) => new SupervisedPart(part, policy, log, events.onChange));
  }

  /** Resolves when every part is up. When one cannot start, the others are taken down and its error is thrown. */
  async start(): Promise<void> {
    const started = new Map<string, Promise<void>>();
    for (const supervised of this.parts) {
      const needed = supervised.part.needs.map((name) => {
        const earlier = started.get(name);
        if (earlier === undefined) throw new Error(`${supervised.part.name} stands before ${name}, which it needs`);
        return earlier;
      });
      started.set(supervised.part.name, this.#start(supervised, needed));
    }
    try {
      await Promise.all(started.values());
    } catch (cause) {
      await this.stop();
      await Promise.allSettled(started.values());
      throw cause;
    }
  }

  /** Resolves when no process of any part is left. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stopAll();
    return this.#stopped;
  }

  async #stopAll(): Promise<void> {
    for (const layer of LAYERS)
      await Promise.all(this.parts.filter((supervised) => supervised.part.layer === layer).map((supervised) => this.#stop(supervised)));
  }

  async #stop(supervised: SupervisedPart): Promise<void> {
    const since = performance.now();
    await supervised.stop();
    this.#log.info({ part: supervised.part.name, milliseconds: Math.round(performance.now() - since) }, "down");
  }

  async #start(supervised: SupervisedPart, needed: readonly Promise<void>[]): Promise<void> {
    const since = performance.now();
    await Promise.all(needed);
    try {
      await supervised.start();
      this.#log.info({ part: supervised.part.name, milliseconds: Math.round(performance.now() - since) }, "up");
    } catch (cause) {
      if (supervised.part.without === undefined || this.#stopped !== undefined) {
        this.failedPart ??= supervised.part.name;
        throw cause;
      }
      this.#log.warn({ part: supervised.part.name, err: cause }, "the mesh goes on without it");
      this.#events.onProgress(`${messageOf(cause)} ${supervised.part.without} (log: ${supervised.part.logFile})`);
    }
  }
}
