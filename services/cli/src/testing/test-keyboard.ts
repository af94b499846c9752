import { EventEmitter } from "node:events";
import type { Keyboard } from "../terminal/terminal-input.ts";

/** Like a terminal it keeps what is typed until somebody reads, and gives it with the next look of the loop. */
export class TestKeyboard extends EventEmitter implements Keyboard {
  raw = false;
  flowing = false;
  readonly #waiting: string[] = [];
  setRawMode(raw: boolean): void {
    this.raw = raw;
  }
  resume(): this {
    this.flowing = true;
    setImmediate(() => this.#give());
    return this;
  }
  pause(): this {
    this.flowing = false;
    return this;
  }
  type(text: string): void {
    this.#waiting.push(text);
    if (this.flowing) this.#give();
  }
  #give(): void {
    for (const text of this.#waiting.splice(0)) this.emit("data", Buffer.from(text));
  }
}
