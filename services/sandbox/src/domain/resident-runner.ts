import type { Isolation, Runner, SandboxRequest } from "./isolation.ts";

/** A session's runner over time: started when it is needed, kept between calls, replaced when it ended. */
export class ResidentRunner {
  readonly #isolation: Isolation;
  readonly #request: SandboxRequest;
  #current: Promise<Runner> | undefined;
  #isClosed = false;

  constructor(isolation: Isolation, request: SandboxRequest) {
    this.#isolation = isolation;
    this.#request = request;
  }

  /** It is up or coming up. */
  get isUp(): boolean {
    return this.#current !== undefined;
  }

  /** @throws what `Isolation.startRunner` throws */
  up(): Promise<Runner> {
    if (this.#current !== undefined) return this.#current;
    const starting = this.#start();
    this.#current = starting;
    const forget = (): void => {
      if (this.#current === starting) this.#current = undefined;
    };
    starting.then((runner) => runner.ending.then(forget), forget);
    return starting;
  }

  /** Stops it; the next use starts a new one. */
  async stop(): Promise<void> {
    const current = this.#current;
    this.#current = undefined;
    await current?.then((runner) => runner.close()).catch(() => undefined);
  }

  /** Stops it for good. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.stop();
  }

  async #start(): Promise<Runner> {
    const runner = await this.#isolation.startRunner(this.#request);
    if (this.#isClosed) await runner.close();
    return runner;
  }
}
