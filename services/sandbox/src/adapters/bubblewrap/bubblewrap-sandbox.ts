import type { Log } from "@hlvm/log/create-log";
import type { SessionSandbox, ToolRun } from "../../domain/isolation.ts";
import { failedResult, type ToolOutput, type ToolResult } from "../../domain/tool-event.ts";
import type { LimitGroup } from "../limits/sandbox-limits.ts";
import { RunnerConnection } from "./runner-connection.ts";
import type { SandboxProcess } from "./sandbox-process.ts";

/** The runner ends a cancelled tool within 100 ms; one that does not answer by then is ended with its sandbox. */
const CANCEL_GRACE_MILLISECONDS = 1_000;
/** The runner keeps a tool's time limit; this much later the service does. */
const TIMEOUT_GRACE_MILLISECONDS = 5_000;

/** A session's sandbox by bubblewrap: one bwrap process, the runner in it, its limits. */
export class BubblewrapSandbox implements SessionSandbox {
  readonly #process: SandboxProcess;
  readonly #group: LimitGroup;
  readonly #runner: RunnerConnection;
  readonly ended: Promise<void>;
  readonly #ending = Promise.withResolvers<void>();
  #events = { kills: 0, refusals: 0 };
  /** Told when the sandbox ends under a call. */
  readonly #running = new Set<() => void>();
  #isEnding = false;
  #hasEnded = false;

  constructor(process: SandboxProcess, group: LimitGroup, log: Log, onEnded: () => void) {
    this.#process = process;
    this.#group = group;
    this.#runner = new RunnerConnection(process.runner, (cause) => {
      if (!this.#isEnding) log.warn({ err: cause }, "the sandbox ended by itself or was ended for what its runner sent");
      process.kill();
    });
    this.ended = this.#end(log).finally(() => {
      onEnded();
      this.#hasEnded = true;
      this.#running.forEach((tell) => tell());
    });
  }

  /** Resolves when calls can be run. */
  get ready(): Promise<void> {
    return this.#runner.ready;
  }

  async run(run: ToolRun, onOutput: (output: ToolOutput) => void, signal: AbortSignal): Promise<ToolResult> {
    const began = performance.now();
    // As the last call left them: each look costs a read of the kernel's files, and a turn has none to spare.
    const before = this.#events;
    if (signal.aborted) return failedResult("cancelled", "The tool was cancelled.", 0);
    if (this.#hasEnded) return this.#diedUnder(signal, 0);
    const died = Promise.withResolvers<ToolResult>();
    const tellDeath = (): void => died.resolve(this.#diedUnder(signal, performance.now() - began));
    const timers = [this.#killAfter(run.timeoutMilliseconds + TIMEOUT_GRACE_MILLISECONDS)];
    const cancel = (): void => {
      this.#runner.cancel(run.callId);
      timers.push(this.#killAfter(CANCEL_GRACE_MILLISECONDS));
    };
    signal.addEventListener("abort", cancel);
    this.#running.add(tellDeath);
    const result = await Promise.race([this.#runner.execute(run, onOutput), died.promise]);
    this.#running.delete(tellDeath);
    timers.forEach(clearTimeout);
    signal.removeEventListener("abort", cancel);
    if (result.success || result.errorCode === "cancelled") {
      // Nobody waits for it: the result goes out first.
      setImmediate(() => void this.#clearWhenFull(before.refusals));
      return result;
    }
    await this.#clearWhenFull(before.refusals);
    if (this.#events.kills > before.kills) return outOfMemory(result);
    return this.#events.refusals > before.refusals ? outOfProcesses(result) : result;
  }

  get ending(): Promise<void> {
    return this.#ending.promise;
  }

  async close(): Promise<void> {
    this.#isEnding = true;
    this.#ending.resolve();
    this.#process.kill();
    await this.ended;
  }

  async #end(log: Log): Promise<void> {
    await this.#process.exited;
    this.#isEnding = true;
    this.#ending.resolve();
    this.#limitEvents();
    await this.#group.remove().catch((error: unknown) => log.warn({ err: error }, "a control group could not be removed"));
  }

  /** What calls leave behind may use up the processes, and then nothing would run again: the next call gets a new sandbox. */
  async #clearWhenFull(refusalsBefore: number): Promise<void> {
    const { refusals } = this.#limitEvents();
    if (this.#running.size === 0 && !this.#isEnding && refusals > refusalsBefore) await this.close();
  }

  #killAfter(milliseconds: number): NodeJS.Timeout {
    return setTimeout(() => this.#process.kill(), milliseconds).unref();
  }

  #diedUnder(signal: AbortSignal, milliseconds: number): ToolResult {
    const duration = Math.round(milliseconds);
    if (signal.aborted) return failedResult("cancelled", "The tool was cancelled, and its sandbox with it.", duration);
    const message = "The sandbox ended while the tool ran; what the tool had done so far stays. The next call gets a new sandbox.";
    return failedResult("unavailable", message, duration);
  }

  #limitEvents(): { readonly kills: number; readonly refusals: number } {
    try {
      this.#events = { kills: this.#group.outOfMemoryKills(), refusals: this.#group.refusedProcesses() };
    } catch {
      // The group is gone; what it counted last was kept.
    }
    return this.#events;
  }
}

function outOfMemory(result: ToolResult): ToolResult {
  const note = "The memory limit of the sandbox was reached and the system ended a process. Use less memory.";
  return { ...result, content: `${result.content}\n[${note}]`, summary: "out of memory", errorCode: "out_of_memory" };
}

function outOfProcesses(result: ToolResult): ToolResult {
  const note =
    "The process limit of the sandbox was reached. What earlier commands left running was ended; start fewer processes at a time.";
  return { ...result, content: `${result.content}\n[${note}]` };
}
