import { randomUUID } from "node:crypto";
import type { Log } from "@hlvm/log/create-log";
import type {
  Compared,
  FoundInstructions,
  InstructionsAsked,
  Previewed,
  RewindRequest,
  Rewound,
  Runner,
  ToolRun,
} from "../../domain/isolation.ts";
import type { ProtectedChange } from "../../domain/protected-change.ts";
import { failedResult, type ToolResult } from "../../domain/tool-event.ts";
import type { LimitGroup } from "../limits/sandbox-limits.ts";
import { RunnerConnection } from "./runner-connection.ts";
import type { Spawned } from "./spawner.ts";

/** The runner ends a cancelled tool within 100 ms; one that does not answer by then is ended with its sandbox. */
const CANCEL_GRACE_MILLISECONDS = 1_000;
/** The runner keeps a tool's time limit; this much later the service does. */
const TIMEOUT_GRACE_MILLISECONDS = 5_000;
/** For looking after the protected paths. */
const GUARD_MILLISECONDS = 10_000;
/** For reading a whole workspace once, on a machine that has much to do. */
const CHECKPOINT_MILLISECONDS = 60_000;

/** A session's runner by bubblewrap: one bwrap process, the runner in it, its limits. */
export class BubblewrapRunner implements Runner {
  readonly #process: Spawned;
  readonly #group: LimitGroup;
  readonly #log: Log;
  readonly ended: Promise<void>;
  readonly #ending = Promise.withResolvers<void>();
  /** There once it is ready; no call comes before. */
  #runner!: RunnerConnection;
  #kills = 0;
  #isEnding = false;
  #hasEnded = false;

  constructor(process: Spawned, group: LimitGroup, log: Log) {
    this.#process = process;
    this.#group = group;
    this.#log = log;
    this.ended = this.#end();
  }

  /** Has it run. Resolves when calls can be run. @throws Error with what bwrap said where it does not come up */
  async start(): Promise<void> {
    const channel = await this.#process.channel;
    this.#runner = new RunnerConnection(channel, (cause) => {
      if (!this.#isEnding) this.#log.warn({ err: cause }, "the runner ended by itself or was ended for what it sent");
      this.#process.kill();
    });
    if (this.#group.entry === undefined) await this.#group.join(await this.#process.initProcess);
    this.#process.release();
    await this.#runner.ready;
  }

  get ending(): Promise<void> {
    return this.#ending.promise;
  }

  async run(run: ToolRun, signal: AbortSignal): Promise<ToolResult> {
    const began = performance.now();
    if (signal.aborted) return failedResult("cancelled", "The tool was cancelled.", 0);
    if (this.#hasEnded) return this.#diedUnder(signal, 0);
    const timers = [this.#killAfter(run.timeoutMilliseconds + TIMEOUT_GRACE_MILLISECONDS)];
    const cancel = (): void => {
      this.#runner.cancel(run.callId);
      timers.push(this.#killAfter(CANCEL_GRACE_MILLISECONDS));
    };
    signal.addEventListener("abort", cancel);
    const died = this.ended.then(() => this.#diedUnder(signal, performance.now() - began));
    const result = await Promise.race([this.#runner.execute(run), died]);
    timers.forEach(clearTimeout);
    signal.removeEventListener("abort", cancel);
    return result;
  }

  async protect(callId: string): Promise<void> {
    await this.#guarded(this.#runner.protect(callId));
  }

  restore(callId: string, keepWatching: boolean): Promise<readonly ProtectedChange[]> {
    return this.#guarded(this.#runner.restore(callId, keepWatching));
  }

  apply(callId: string, changes: readonly ProtectedChange[]): Promise<string> {
    return this.#guarded(this.#runner.apply(callId, changes));
  }

  checkpoint(turn: string): Promise<string> {
    return this.#guarded(this.#runner.checkpoint(randomUUID(), turn), CHECKPOINT_MILLISECONDS);
  }

  rewind(request: RewindRequest): Promise<Rewound> {
    return this.#guarded(this.#runner.rewind(randomUUID(), request), CHECKPOINT_MILLISECONDS);
  }

  compare(): Promise<Compared> {
    return this.#guarded(this.#runner.compare(randomUUID()), CHECKPOINT_MILLISECONDS);
  }

  preview(tool: string, argumentsJson: string): Promise<Previewed> {
    return this.#guarded(this.#runner.preview(randomUUID(), tool, argumentsJson));
  }

  readInstructions(asked: InstructionsAsked): Promise<FoundInstructions> {
    return this.#guarded(this.#runner.readInstructions(randomUUID(), asked));
  }

  async close(): Promise<void> {
    this.#isEnding = true;
    this.#ending.resolve();
    this.#process.kill();
    await this.ended;
  }

  async #end(): Promise<void> {
    await this.#process.exited;
    this.#isEnding = true;
    this.#ending.resolve();
    this.#kills = killsIn(this.#group);
    await this.#group.remove().catch((error: unknown) => this.#log.warn({ err: error }, "a control group could not be removed"));
    this.#hasEnded = true;
  }

  /** @throws Error where the runner ends meanwhile, or does not answer: nobody may take the paths for untouched then */
  async #guarded<Answer>(answer: Promise<Answer>, milliseconds = GUARD_MILLISECONDS): Promise<Answer> {
    const timer = this.#killAfter(milliseconds);
    try {
      return await Promise.race([
        answer,
        this.ended.then(() => Promise.reject(new Error("the runner ended while it looked after the protected paths"))),
      ]);
    } finally {
      clearTimeout(timer);
    }
  }

  #killAfter(milliseconds: number): NodeJS.Timeout {
    return setTimeout(() => this.#process.kill(), milliseconds).unref();
  }

  #diedUnder(signal: AbortSignal, milliseconds: number): ToolResult {
    const duration = Math.round(milliseconds);
    if (signal.aborted) return failedResult("cancelled", "The tool was cancelled, and its sandbox with it.", duration);
    if (this.#kills > 0)
      return failedResult("out_of_memory", "The memory limit of the sandbox was reached and the system ended the tool.", duration);
    const message = "The sandbox ended while the tool ran; what the tool had done so far stays. The next call gets a new sandbox.";
    return failedResult("unavailable", message, duration);
  }
}

function killsIn(group: LimitGroup): number {
  try {
    return group.outOfMemoryKills();
  } catch {
    return 0;
  }
}
