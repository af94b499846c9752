import type { SandboxProfile } from "@hlvm/grant/grant";
import type { Log } from "@hlvm/log/create-log";
import type { CommandSandbox, Isolation, SandboxRequest } from "./isolation.ts";

/**
 * Sandboxes that stand by for a session's next command, at most one a profile. Each is used once: what one command leaves
 * behind is nothing to the next.
 */
export class Standbys {
  readonly #isolation: Isolation;
  readonly #request: SandboxRequest;
  readonly #log: Log;
  readonly #waiting = new Map<SandboxProfile, Promise<CommandSandbox>>();
  /** Those that run a command. */
  readonly #taken = new Set<CommandSandbox>();
  #isClosed = false;

  constructor(isolation: Isolation, request: SandboxRequest, log: Log) {
    this.#isolation = isolation;
    this.#request = request;
    this.#log = log;
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  /** A sandbox for one command. @throws what `Isolation.startCommand` throws */
  async take(profile: SandboxProfile): Promise<CommandSandbox> {
    const waiting = this.#waiting.get(profile);
    this.#waiting.delete(profile);
    const sandbox = await (waiting ?? this.#isolation.startCommand(this.#request, profile));
    this.#taken.add(sandbox);
    void sandbox.ended.then(() => this.#taken.delete(sandbox));
    if (this.#isClosed) await sandbox.close();
    return sandbox;
  }

  /** Has one stand by, where none does. Where none can be started, the next command says why. */
  prepare(profile: SandboxProfile): void {
    if (this.#isClosed || this.#waiting.has(profile)) return;
    const starting = this.#isolation.startCommand(this.#request, profile);
    this.#waiting.set(profile, starting);
    const forget = (): void => {
      if (this.#waiting.get(profile) === starting) this.#waiting.delete(profile);
    };
    starting.then(
      (sandbox) => sandbox.ending.then(forget),
      (error: unknown) => {
        forget();
        this.#log.warn({ err: error }, "no sandbox could be made to stand by");
      },
    );
  }

  /** Ends those that stand by. */
  async discard(): Promise<void> {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    await Promise.all(waiting.map((starting) => starting.then((sandbox) => sandbox.close()).catch(() => undefined)));
  }

  /** Ends all, also those that run a command. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([this.discard(), ...[...this.#taken].map((sandbox) => sandbox.close())]);
  }
}
