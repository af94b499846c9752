import { EXIT_FAILED, EXIT_READER_GONE } from "../command.ts";

const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/**
 * The wishes to stop: Ctrl-C, a signal, a terminal that was closed, or standard output that nobody reads or that cannot be
 * written. The first aborts `signal`, so that what is under way ends in order; a second ends the process at once.
 */
export class Interrupts implements Disposable {
  readonly #stopped = new AbortController();
  readonly #remove: (() => void)[] = [];
  #exitCode: number | undefined;

  constructor() {
    for (const [name, exitCode] of Object.entries(SIGNALS)) {
      const handle = (): void => this.interrupt(exitCode);
      process.on(name, handle);
      this.#remove.push(() => process.off(name, handle));
    }
    const unwritten = ({ code }: NodeJS.ErrnoException): void => {
      if (code === "EIO") this.#stop(SIGNALS.SIGHUP);
      else this.#stop(code === "EPIPE" ? EXIT_READER_GONE : EXIT_FAILED);
    };
    const closed = ({ code }: NodeJS.ErrnoException): void => {
      if (code === "EIO") this.#stop(SIGNALS.SIGHUP);
    };
    process.stdout.on("error", unwritten);
    process.stderr.on("error", closed);
    this.#remove.push(
      () => process.stdout.off("error", unwritten),
      () => process.stderr.off("error", closed),
    );
  }

  get signal(): AbortSignal {
    return this.#stopped.signal;
  }

  /** 128 and the signal's number, as a shell gives it; undefined while nobody wants to stop. */
  get exitCode(): number | undefined {
    return this.#exitCode;
  }

  /** Nobody reads standard output any more, so there is nobody to be told anything. */
  get brokenPipe(): boolean {
    return this.#exitCode === EXIT_READER_GONE;
  }

  interrupt(exitCode: number): void {
    if (this.#exitCode !== undefined) process.exit(exitCode);
    this.#stop(exitCode);
  }

  #stop(exitCode: number): void {
    if (this.#exitCode !== undefined) return;
    this.#exitCode = exitCode;
    this.#stopped.abort();
  }

  [Symbol.dispose](): void {
    for (const remove of this.#remove) remove();
  }
}
