import type { Log } from "@hlvm/log/create-log";
import type { Isolation, SandboxRequest, SessionSandbox } from "./isolation.ts";

/** A session's sandbox over time: started when it is needed, kept between calls, stopped when idle, replaced when it ended. */
export class ResidentSandbox {
  readonly #isolation: Isolation;
  readonly #request: SandboxRequest;
  readonly #idleMilliseconds: number;
  readonly #log: Log;
  #current: Promise<SessionSandbox> | undefined;
  #users = 0;
  #idle: NodeJS.Timeout | undefined;
  #isClosed = false;
  #lastUse = Date.now();

  constructor(isolation: Isolation, request: SandboxRequest, idleMilliseconds: number, log: Log) {
    this.#isolation = isolation;
    this.#request = request;
    this.#idleMilliseconds = idleMilliseconds;
    this.#log = log.child({ sessionId: request.sessionId });
  }

  /** It is up or coming up. */
  get isUp(): boolean {
    return this.#current !== undefined;
  }

  get isInUse(): boolean {
    return this.#users > 0;
  }

  /** Milliseconds since 1970. */
  get lastUse(): number {
    return this.#lastUse;
  }

  /** Keeps the sandbox up while `use` is under way. @throws what `Isolation.start` throws */
  async use<Result>(use: (sandbox: SessionSandbox) => Promise<Result>): Promise<Result> {
    this.#users++;
    clearTimeout(this.#idle);
    try {
      return await use(await this.#up());
    } finally {
      this.#users--;
      this.#lastUse = Date.now();
      this.#watchIdle();
    }
  }

  /** Stops the sandbox; the next use starts a new one. */
  async stop(): Promise<void> {
    clearTimeout(this.#idle);
    const current = this.#current;
    this.#current = undefined;
    await current?.then((sandbox) => sandbox.close()).catch(() => undefined);
  }

  /** Stops it for good. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.stop();
  }

  #up(): Promise<SessionSandbox> {
    if (this.#current !== undefined) return this.#current;
    const starting = this.#start();
    this.#current = starting;
    const forget = (): void => {
      if (this.#current === starting) this.#current = undefined;
    };
    starting.then((sandbox) => sandbox.ending.then(forget), forget);
    return starting;
  }

  async #start(): Promise<SessionSandbox> {
    const began = performance.now();
    const sandbox = await this.#isolation.start(this.#request);
    this.#log.debug({ milliseconds: Math.round(performance.now() - began) }, "sandbox started");
    if (this.#isClosed) await sandbox.close();
    return sandbox;
  }

  #watchIdle(): void {
    clearTimeout(this.#idle);
    if (this.#isClosed || this.#users > 0) return;
    this.#idle = setTimeout(() => void this.stop(), this.#idleMilliseconds).unref();
  }
}
