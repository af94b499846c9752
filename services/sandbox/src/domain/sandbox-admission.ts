import { HlvmError } from "@hlvm/errors/hlvm-error";
import { gauge } from "@hlvm/telemetry/instrument";
import { FairQueue } from "./fair-queue.ts";

/** A waiting call is a stream and a few kilobytes; more than this many would be answered too late to be of use. */
const MAXIMUM_WAITING = 1_000;
/** Tells a caller that its call still waits, and any proxy between that the stream is alive. */
const TELL_EVERY_MILLISECONDS = 5_000;

/** A session's sandboxes as far as admission is concerned. */
export interface AdmittedSandbox {
  /** Something runs in it, which must not be ended. */
  readonly isInUse: boolean;
  /** Milliseconds, as `performance.now()` has them. */
  readonly lastUse: number;
  readonly stop: () => Promise<void>;
}

/** A call that needs its session's sandbox. */
export interface AdmissionRequest {
  readonly sandbox: AdmittedSandbox;
  /** Who asks: between persons the turns are fair. */
  readonly person: string;
  readonly signal: AbortSignal;
  readonly waitMilliseconds: number;
  /** Called at once where the call has to wait, and then from time to time. @param position 1: its turn is next */
  readonly onWaiting: (position: number) => void;
}

interface Place {
  readonly sandbox: AdmittedSandbox;
  calls: number;
}

interface Waiter {
  readonly sandbox: AdmittedSandbox;
  readonly admitted: PromiseWithResolvers<Place>;
}

/**
 * Which sessions may have sandboxes up: so many at a time. A session without a call gives its place to one that has a call,
 * the one that was used longest ago first; where all have calls, a further session's calls wait.
 */
export class SandboxAdmission {
  readonly #maximum: number;
  readonly #places = new Map<AdmittedSandbox, Place>();
  readonly #queue: FairQueue<Waiter>;

  constructor(maximum: number, maximumWaiting = MAXIMUM_WAITING) {
    this.#maximum = maximum;
    this.#queue = new FairQueue(maximumWaiting);
    gauge("hlvm.sandbox.waiting", "Calls that wait for a sandbox.", "{call}", (result) => result.observe(this.#queue.size));
    gauge("hlvm.sandbox.places", "Sessions that may have sandboxes up at a time.", "{session}", (result) => {
      result.observe(this.#places.size, { state: "used" });
      result.observe(this.#maximum - this.#places.size, { state: "free" });
    });
  }

  /** Gives a session a place without a call, where nobody waits for one. @returns whether it has one */
  admitIdle(sandbox: AdmittedSandbox): boolean {
    return this.#place(sandbox) !== undefined;
  }

  /**
   * Waits until the call's session has a place. A session that has one already does not wait.
   * @returns gives the place back; called once, when the call has ended
   * @throws HlvmError `too_many_sandboxes`, or the signal's reason: it holds no place then
   */
  async acquire(request: AdmissionRequest): Promise<() => void> {
    request.signal.throwIfAborted();
    const place = this.#place(request.sandbox);
    if (place === undefined) return this.#release(await this.#wait(request));
    place.calls++;
    return this.#release(place);
  }

  /** The session is closed: its place is free, and its calls wait no more. */
  forget(sandbox: AdmittedSandbox, why: HlvmError): void {
    this.#places.delete(sandbox);
    for (const { admitted } of this.#queue.take((waiter) => waiter.sandbox === sandbox)) admitted.reject(why);
    this.admitWaiting();
  }

  /** Lets calls in for which there is room by now: called whenever a sandbox has become idle. */
  admitWaiting(): void {
    while (this.#queue.size > 0 && this.#makeRoom()) {
      const next = this.#queue.shift()!;
      const place = this.#add(next.sandbox);
      // Further calls of the session need no place of their own.
      for (const { admitted } of [next, ...this.#queue.take((waiter) => waiter.sandbox === next.sandbox)]) {
        place.calls++;
        admitted.resolve(place);
      }
    }
  }

  #place(sandbox: AdmittedSandbox): Place | undefined {
    return this.#places.get(sandbox) ?? (this.#queue.size === 0 && this.#makeRoom() ? this.#add(sandbox) : undefined);
  }

  #add(sandbox: AdmittedSandbox): Place {
    const place = { sandbox, calls: 0 };
    this.#places.set(sandbox, place);
    return place;
  }

  #release(place: Place): () => void {
    return () => {
      place.calls--;
      this.admitWaiting();
    };
  }

  /** @returns whether there is a free place by now */
  #makeRoom(): boolean {
    if (this.#places.size < this.#maximum) return true;
    const idle = [...this.#places.values()].filter(({ calls, sandbox }) => calls === 0 && !sandbox.isInUse);
    const [oldest] = idle.sort((one, other) => one.sandbox.lastUse - other.sandbox.lastUse);
    if (oldest === undefined) return false;
    this.#places.delete(oldest.sandbox);
    void oldest.sandbox.stop();
    return true;
  }

  async #wait({ sandbox, person, signal, waitMilliseconds, onWaiting }: AdmissionRequest): Promise<Place> {
    const waiter: Waiter = { sandbox, admitted: Promise.withResolvers() };
    const { promise, reject } = waiter.admitted;
    this.#queue.push({ person, item: waiter })?.admitted.reject(queueFull(this.#maximum, this.#queue.size));
    const tell = (): void => {
      const position = this.#queue.position({ person, item: waiter });
      if (position > 0) onWaiting(position);
    };
    // Out of the queue in the same moment: nobody would give back a place that it was given after.
    const leave = (why: unknown): void => {
      this.#queue.remove({ person, item: waiter });
      reject(why);
    };
    const cancel = (): void => leave(signal.reason);
    const limit = setTimeout(() => leave(waitedTooLong(this.#maximum, waitMilliseconds)), Math.max(0, waitMilliseconds));
    const telling = setInterval(tell, TELL_EVERY_MILLISECONDS);
    signal.addEventListener("abort", cancel);
    tell();
    try {
      return await promise;
    } finally {
      clearTimeout(limit);
      clearInterval(telling);
      signal.removeEventListener("abort", cancel);
    }
  }
}

function queueFull(maximum: number, waiting: number): HlvmError {
  return tooMany(`All ${maximum} sandboxes of this machine are at work, and ${waiting} calls wait for one: there is no room for another.`);
}

function waitedTooLong(maximum: number, milliseconds: number): HlvmError {
  const seconds = Math.max(0, Math.round(milliseconds / 1_000));
  return tooMany(`All ${maximum} sandboxes of this machine stayed at work for ${seconds} s, as long as this call could wait.`);
}

function tooMany(message: string): HlvmError {
  return new HlvmError({
    code: "resource_exhausted",
    reason: "too_many_sandboxes",
    message: `${message} It did not run.`,
    advice: "Try again when other calls have ended, or raise HLVM_SANDBOX_SESSIONS where the machine has memory to spare.",
  });
}
