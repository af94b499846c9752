import { messageOf } from "@hlvm/errors/message-of";
import type { Log } from "@hlvm/log/create-log";
import { KeptPart, type Patience } from "./kept-part.ts";
import { LAYERS, type Part } from "./part.ts";

export interface MeshEvents {
  /** A line for a person. */
  readonly onProgress: (line: string) => void;
  /** A part that was up has ended by itself, or is up again. */
  readonly onChange: () => void;
}

/** All parts together: up as fast as what they need of each other allows, and down in order. */
export class Mesh {
  readonly parts: readonly KeptPart[];
  /** The part that could not start, where `start` threw. */
  failedPart: string | undefined;
  readonly #events: MeshEvents;
  readonly #log: Log;
  #stopped: Promise<void> | undefined;

  constructor(parts: readonly Part[], patience: Patience, log: Log, events: MeshEvents) {
    this.#events = events;
    this.#log = log;
    this.parts = parts.map((part) => new KeptPart(part, patience, log, events.onChange));
  }

  /** Resolves when every part is up. When one cannot start, the others are taken down and its error is thrown. */
  async start(): Promise<void> {
    const started = new Map<string, Promise<void>>();
    for (const kept of this.parts) {
      const needed = kept.part.needs.map((name) => {
        const earlier = started.get(name);
        if (earlier === undefined) throw new Error(`${kept.part.name} stands before ${name}, which it needs`);
        return earlier;
      });
      started.set(kept.part.name, this.#start(kept, needed));
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
    for (const layer of LAYERS) await Promise.all(this.parts.filter((kept) => kept.part.layer === layer).map((kept) => this.#stop(kept)));
  }

  async #stop(kept: KeptPart): Promise<void> {
    const since = performance.now();
    await kept.stop();
    this.#log.info({ part: kept.part.name, milliseconds: Math.round(performance.now() - since) }, "down");
  }

  async #start(kept: KeptPart, needed: readonly Promise<void>[]): Promise<void> {
    const since = performance.now();
    await Promise.all(needed);
    try {
      await kept.start();
      this.#log.info({ part: kept.part.name, milliseconds: Math.round(performance.now() - since) }, "up");
    } catch (cause) {
      if (kept.part.without === undefined || this.#stopped !== undefined) {
        this.failedPart ??= kept.part.name;
        throw cause;
      }
      this.#log.warn({ part: kept.part.name, err: cause }, "the mesh goes on without it");
      this.#events.onProgress(`${messageOf(cause)} ${kept.part.without} (log: ${kept.part.logFile})`);
    }
  }
}
