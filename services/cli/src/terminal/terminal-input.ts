import { setTimeout as delay } from "node:timers/promises";
import { inForeground } from "./in-foreground.ts";
import { KeyDecoder, type Key } from "./key-decoder.ts";

export interface Keyboard {
  setRawMode(raw: boolean): unknown;
  on(event: "data", listener: (data: Buffer) => void): unknown;
  off(event: "data", listener: (data: Buffer) => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  resume(): unknown;
  pause(): unknown;
}

/** Who is given the keys. */
export interface KeyReader {
  key(key: Key): void;
  /** Pressed while a question had only just covered this reader: they were meant for it. */
  early?(key: Key): void;
}

export interface TerminalInputOptions {
  /** Writes to the terminal. */
  readonly write: (text: string) => unknown;
  readonly onControlC: () => void;
}

/** What is pressed so soon after a question appeared, or after the key before, was not meant for it. */
const QUIET_MILLISECONDS = 250;
/** A key's sequence comes in one piece; an escape character alone for so long is the Escape key. */
const ESCAPE_MILLISECONDS = 50;
/** Nobody tells a process that it came to the foreground. */
const BACKGROUND_MILLISECONDS = 500;
const PASTE_MODE_ON = "\u001b[?2004h";
const PASTE_MODE_OFF = "\u001b[?2004l";

/**
 * The keys of a terminal, one reader at a time: the last that came, until it leaves; then the one before goes on. While there
 * is one the terminal is in raw mode and tells what is pasted; it is given back as it was at the end of the process too.
 */
export class TerminalInput implements Disposable {
  readonly #keyboard: Keyboard;
  readonly #options: TerminalInputOptions;
  readonly #readers: KeyReader[] = [];
  readonly #onData = (data: Buffer): void => this.#data(data);
  readonly #onExit = (): void => this.#leave();
  readonly #onContinue = (): void => this.#continued();
  #decoder = new KeyDecoder();
  #escape: NodeJS.Timeout | undefined;
  #isOpen = false;
  #isSuspended = false;
  #coveredUntil = 0;

  constructor(keyboard: Keyboard, options: TerminalInputOptions) {
    this.#keyboard = keyboard;
    this.#options = options;
    // A terminal that was closed: whoever writes to it is told, and the process gets a signal.
    keyboard.on("error", () => undefined);
  }

  /** Gives all keys to this reader, until what is returned is disposed of. */
  read(reader: KeyReader): Disposable {
    this.#readers.push(reader);
    this.#update();
    return {
      [Symbol.dispose]: () => {
        const index = this.#readers.indexOf(reader);
        if (index < 0) return;
        this.#readers.splice(index, 1);
        if (this.#readers.length > 0) this.#coveredUntil = performance.now() + QUIET_MILLISECONDS;
        this.#update();
      },
    };
  }

  /** Resolves when nothing was pressed for a quarter of a second, or when the signal was aborted. */
  async quiet(signal: AbortSignal): Promise<void> {
    let last = performance.now();
    const [covered] = this.#readers;
    using _ = this.read({
      key: (key) => {
        last = performance.now();
        covered?.early?.(key);
      },
    });
    for (let left = QUIET_MILLISECONDS; left > 0 && !signal.aborted; left = last + QUIET_MILLISECONDS - performance.now())
      await delay(Math.ceil(left), undefined, { signal }).catch(() => undefined);
  }

  /** Leaves the terminal to another program until it is disposed of. */
  suspend(): Disposable {
    this.#isSuspended = true;
    this.#update();
    return {
      [Symbol.dispose]: () => {
        this.#isSuspended = false;
        this.#update();
      },
    };
  }

  [Symbol.dispose](): void {
    this.#readers.length = 0;
    this.#update();
  }

  #update(): void {
    const isWanted = this.#readers.length > 0 && !this.#isSuspended;
    if (isWanted && !this.#isOpen) this.#enter();
    else if (!isWanted && this.#isOpen) this.#leave();
  }

  #enter(): void {
    this.#isOpen = true;
    this.#decoder = new KeyDecoder();
    process.on("exit", this.#onExit);
    process.on("SIGCONT", this.#onContinue);
    this.#keyboard.on("data", this.#onData);
    this.#keyboard.setRawMode(true);
    this.#options.write(PASTE_MODE_ON);
    this.#keyboard.resume();
  }

  #leave(): void {
    this.#isOpen = false;
    clearTimeout(this.#escape);
    process.off("exit", this.#onExit);
    process.off("SIGCONT", this.#onContinue);
    this.#keyboard.off("data", this.#onData);
    this.#options.write(PASTE_MODE_OFF);
    this.#keyboard.setRawMode(false);
    this.#keyboard.pause();
  }

  #data(data: Buffer): void {
    clearTimeout(this.#escape);
    for (const key of this.#decoder.push(data)) this.#give(key);
    if (!this.#decoder.isUndecided) return;
    this.#escape = setTimeout(() => this.#decoder.settle().forEach((key) => this.#give(key)), ESCAPE_MILLISECONDS);
  }

  #give(key: Key): void {
    if (key.name === "ctrl-c") return this.#options.onControlC();
    if (key.name === "ctrl-z") return this.#stopProcess();
    const isLate = this.#readers.length === 1 && performance.now() < this.#coveredUntil;
    // Enter behind the y that answered a question sends nothing.
    if (isLate && (key.name === "enter" || key.name === "escape")) return;
    this.#readers.at(-1)?.key(key);
  }

  /** As the terminal itself would in its usual mode. */
  #stopProcess(): void {
    this.#leave();
    process.kill(0, "SIGTSTP");
    // It was continued, or nobody was there who could stop it.
    this.#return();
  }

  /** Whoever stopped the process may have changed the terminal's mode. */
  #continued(): void {
    if (!this.#isOpen) return;
    if (!inForeground()) return void setTimeout(() => this.#continued(), BACKGROUND_MILLISECONDS).unref();
    this.#leave();
    this.#return();
  }

  #return(): void {
    if (!inForeground()) return void setTimeout(() => this.#return(), BACKGROUND_MILLISECONDS).unref();
    this.#update();
    if (this.#isOpen) this.#readers.at(-1)?.key({ name: "redraw", text: "" });
  }
}
