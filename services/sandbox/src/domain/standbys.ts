import type { SandboxProfile } from "@hlvm/grant/grant";
import type { Log } from "@hlvm/log/create-log";
import { durationHistogram } from "@hlvm/telemetry/instrument";
import type { CommandSandbox, Isolation, SandboxRequest } from "./isolation.ts";

const recordOpen = durationHistogram("hlvm.sandbox.open.duration", "How long commands wait for their sandbox; warm: it stood by.");

interface Standby {
  readonly starting: Promise<CommandSandbox>;
  /** To be called before anything runs in it. */
  readonly want: () => void;
}

/**
 * Sandboxes that stand by for a session's next commands, a few a profile. Each is used once: what one command leaves behind
 * is nothing to the next.
 */
export class Standbys {
  readonly #isolation: Isolation;
  readonly #request: SandboxRequest;
  readonly #log: Log;
  readonly #waiting = new Map<SandboxProfile, Standby[]>();
  /** Those that run a command. */
  readonly #taken = new Set<CommandSandbox>();
  #isClosed = false;

  constructor(isolation: Isolation, request: SandboxRequest, log: Log) {
    this.#isolation = isolation;
    this.#request = request;
    this.#log = log;
  }

  get isEmpty(): boolean {
    return [...this.#waiting.values()].every((waiting) => waiting.length === 0);
  }

  /** A sandbox for one command. @throws what `Isolation.startCommand` throws */
  async take(profile: SandboxProfile): Promise<CommandSandbox> {
    const startedAt = performance.now();
    const standby = this.#of(profile).shift();
    standby?.want();
    const sandbox = await (standby?.starting ?? this.#isolation.startCommand(this.#request, profile));
    recordOpen(performance.now() - startedAt, { warm: standby !== undefined });
    this.#taken.add(sandbox);
    void sandbox.ended.then(() => this.#taken.delete(sandbox));
    if (this.#isClosed) await sandbox.close();
    return sandbox;
  }

  /** Has at least so many stand by. Where none can be started, the next command says why. */
  prepare(profile: SandboxProfile, count: number): void {
    const waiting = this.#of(profile);
    while (!this.#isClosed && waiting.length < count) this.#start(profile, waiting);
  }

  /** Ends those that stand by. */
  async discard(): Promise<void> {
    const waiting = [...this.#waiting.values()].flat();
    this.#waiting.clear();
    await Promise.all(waiting.map(({ starting }) => starting.then((sandbox) => sandbox.close()).catch(() => undefined)));
  }

  /** Ends all, also those that run a command. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([this.discard(), ...[...this.#taken].map((sandbox) => sandbox.close())]);
  }

  #of(profile: SandboxProfile): Standby[] {
    const waiting = this.#waiting.get(profile) ?? [];
    this.#waiting.set(profile, waiting);
    return waiting;
  }

  #start(profile: SandboxProfile, waiting: Standby[]): void {
    const wanted = Promise.withResolvers<void>();
    const starting = this.#isolation.startCommand(this.#request, profile, wanted.promise);
    const standby = { starting, want: wanted.resolve };
    waiting.push(standby);
    const forget = (): void => {
      const at = waiting.indexOf(standby);
      if (at !== -1) void waiting.splice(at, 1);
    };
    starting.then(
      (sandbox) => sandbox.ending.then(forget),
      (error: unknown) => {
        forget();
        this.#log.warn({ err: error }, "no sandbox could be made to stand by");
      },
    );
  }
}
