import type { Writable } from "node:stream";
import { encodeFrame } from "./frames.ts";

/** How long output may wait for more, or for the result: shorter than anybody who looks on can tell. */
const WAIT_MILLISECONDS = 10;

/** Sends frames in order, few at a time: every piece that is sent wakes the service and all who wait behind it. */
export class Outbox {
  readonly #target: Writable;
  #waiting: Buffer[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(target: Writable) {
    this.#target = target;
  }

  /** At once, after what waits. */
  send(message: object): void {
    this.#waiting.push(encodeFrame(message));
    this.#flush();
  }

  /** With what comes next, within 10 ms. */
  sendSoon(message: object): void {
    this.#waiting.push(encodeFrame(message));
    this.#timer ??= setTimeout(() => this.#flush(), WAIT_MILLISECONDS);
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#target.write(Buffer.concat(this.#waiting));
    this.#waiting = [];
  }
}
