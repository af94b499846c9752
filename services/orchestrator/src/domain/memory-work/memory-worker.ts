import { randomUUID } from "node:crypto";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Delegation } from "@hlvm/identity/delegation";
import type { Narrowing } from "@hlvm/identity/delegation-narrower";
import type { Log } from "@hlvm/log/create-log";
import type { DoorPorts } from "../door/call-model.ts";
import { askAbout, MEMORY_CALL_MILLISECONDS } from "./ask-about.ts";
import type { MemoryWorkStore, NextPerson } from "./memory-work-store.ts";
import type { ModelWork, WorkItem } from "./model-work.ts";

/** What the person's budgets, or the mesh's settings, are against: that does not change in a minute. */
const LASTING: ReadonlySet<string> = new Set(["budget_exhausted", "price_unknown", "model_not_permitted", "request_not_supported"]);
const LASTING_SECONDS = 3_600;
const PASSING_SECONDS = 60;
/** Where nothing waits. */
const IDLE_SECONDS = 15;
/** Beside what the model's answer takes. */
const CLAIM_SECONDS = MEMORY_CALL_MILLISECONDS / 1_000 + 60;
const MOST_CHARACTERS = 40_000;
const LEAST_CHARACTERS = 1_000;
/** Of a window: a token is a character at least, and the answer and the question need room. */
const SHARE_OF_WINDOW = 0.75;
const QUESTION_CHARACTERS = 1_500;

export interface MemoryWorkerPorts {
  readonly store: MemoryWorkStore;
  readonly verifyDelegation: (text: string) => Delegation;
  readonly narrow: (delegation: string, narrowing: Narrowing) => string;
  /** Memory, called in the name of whose delegation it is. */
  readonly memoryFor: (delegation: string) => ModelWork;
  /** The same of models, the audit log and the ledger. */
  readonly doorPorts: (delegation: string) => DoorPorts;
  /** `provider/name`. */
  readonly model: string;
  readonly callsPerMinute: number;
  readonly log: Log;
  /** Aborted when this process drains or ends. */
  readonly stopping: AbortSignal;
}

/** Asks a model about what waits in memory, one item after the other, each for its person and by what they let it. */
export class MemoryWorker {
  readonly #ports: MemoryWorkerPorts;

  constructor(ports: MemoryWorkerPorts) {
    this.#ports = ports;
  }

  /** Goes on until nothing waits, this minute has had its calls, or the process is to end. */
  async work(): Promise<void> {
    const { store, stopping, callsPerMinute } = this.#ports;
    while (!stopping.aborted && (await store.take(callsPerMinute, CLAIM_SECONDS))) {
      try {
        const next = await store.next();
        if (next === undefined) return;
        await this.#workFor(next);
      } finally {
        await store.giveBack();
      }
    }
  }

  async #workFor(next: NextPerson): Promise<void> {
    const { store, memoryFor, stopping, log } = this.#ports;
    let memory: ModelWork | undefined;
    let item: WorkItem | undefined;
    try {
      memory = memoryFor(next.delegation);
      item = await memory.claim(await this.#room(next), CLAIM_SECONDS, stopping);
      if (item === undefined) return await store.pause(next.person, "", IDLE_SECONDS);
      await store.countCall();
      const { model, answer } = await this.#ask(next, item);
      const isStored = await memory.put(item.claimId, model, answer, stopping);
      await store.countAnswer(next.person, isStored ? "stored" : "refused");
    } catch (thrown) {
      if (item !== undefined) await memory?.release(item.claimId).catch((cause: unknown) => log.debug({ err: cause }, "a claim runs out"));
      if (stopping.aborted) return;
      const reason = thrown instanceof HlvmError ? thrown.reason : "internal";
      log.warn({ err: thrown, reason }, "a model was not asked about what memory holds");
      await store.pause(next.person, reason, LASTING.has(reason) ? LASTING_SECONDS : PASSING_SECONDS);
    }
  }

  /** In characters. */
  async #room({ delegation }: NextPerson): Promise<number> {
    const { doorPorts, model, stopping } = this.#ports;
    const { contextWindow } = await doorPorts(delegation).models.resolve(model, stopping);
    const room = Math.floor(contextWindow * SHARE_OF_WINDOW) - QUESTION_CHARACTERS;
    return Math.min(MOST_CHARACTERS, Math.max(LEAST_CHARACTERS, room));
  }

  async #ask({ delegation: given }: NextPerson, item: WorkItem): Promise<{ readonly model: string; readonly answer: string }> {
    const { verifyDelegation, narrow, doorPorts, model, stopping } = this.#ports;
    const { settings } = verifyDelegation(given);
    // Each call has a delegation of its own: its id stands in the ledger and on record.
    const signed = narrow(given, { runId: randomUUID(), settings });
    return askAbout({ delegation: verifyDelegation(signed), signed }, model, item, doorPorts(signed), stopping);
  }
}
