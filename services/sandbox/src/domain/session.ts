import { HlvmError } from "@hlvm/errors/hlvm-error";
import { isProcessTool } from "./commands/process-tools.ts";
import { EventQueue } from "./event-queue.ts";
import type { FoundInstructions, InstructionsAsked, ToolRun } from "./isolation.ts";
import type { HeldSession } from "./placement/placements.ts";
import type { Owner, Receipts } from "./receipts.ts";
import { ResultBudget } from "./result-budget.ts";
import type { SandboxAdmission } from "./sandbox-admission.ts";
import type { SessionSandbox } from "./session-sandbox.ts";
import type { ToolEvent } from "./tool-event.ts";
import type { WorkspaceFolder } from "./workspace-folder.ts";

/** A call of a session, with what its receipt and its run's budget are found by. */
export interface SessionRun extends ToolRun {
  readonly runId: string;
  readonly fingerprint: string;
  /** How long it may wait for room for its sandbox. */
  readonly waitMilliseconds: number;
}

interface SessionParts {
  readonly held: HeldSession;
  readonly workspace: WorkspaceFolder;
  readonly receipts: Receipts;
  readonly sandbox: SessionSandbox;
  readonly admission: SandboxAdmission;
  /** Called when nothing is under way any more. */
  readonly onIdle: () => void;
}

/** A session whose workspace is open. */
export class Session {
  readonly held: HeldSession;
  readonly owner: Owner;
  readonly workspace: WorkspaceFolder;
  readonly receipts: Receipts;
  readonly sandbox: SessionSandbox;
  readonly #admission: SandboxAdmission;
  readonly #budget = new ResultBudget();
  /** Call id → what ends it, and its end. */
  readonly #running = new Map<string, { readonly stop: AbortController; readonly ended: Promise<unknown> }>();
  readonly #calls = new Set<Promise<void>>();
  readonly #onIdle: () => void;
  #underWay = 0;

  constructor(owner: Owner, { held, workspace, receipts, sandbox, admission, onIdle }: SessionParts) {
    this.owner = owner;
    this.held = held;
    this.workspace = workspace;
    this.receipts = receipts;
    this.sandbox = sandbox;
    this.#admission = admission;
    this.#onIdle = onIdle;
  }

  /** Something runs in it, or waits for room to. */
  get isInUse(): boolean {
    return this.#underWay > 0 || this.sandbox.isInUse;
  }

  /** Resolves when the calls that are under way have come to their ends. */
  async finishCalls(): Promise<void> {
    await Promise.allSettled(this.#calls);
  }

  /**
   * Runs a granted call. It comes to its end, and its receipt is written, whether or not somebody reads the events: a caller
   * that is lost, as one that was killed, has somebody else ask for the end; one that cancels ends the call.
   * @throws HlvmError where it did not start: `call_already_started`, `sandbox_not_started`, `too_many_sandboxes`; and
   * `sandbox_lease_lost`, before it or while it ran: another replica may have told by now that nobody knows how it ended
   */
  async *run(run: SessionRun, signal: AbortSignal): AsyncGenerator<ToolEvent, void> {
    const events = new EventQueue<ToolEvent>();
    const finished = this.#finish(run, events, signal).finally(() => events.close());
    this.#calls.add(finished);
    const forget = (): boolean => this.#calls.delete(finished);
    finished.then(forget, forget);
    yield* events.read();
    await finished;
  }

  async #finish(run: SessionRun, events: EventQueue<ToolEvent>, signal: AbortSignal): Promise<void> {
    const onWaiting = (position: number): void => events.push({ kind: "waiting", position });
    const release = isProcessTool(run.tool) ? undefined : await this.#admit(run.waitMilliseconds, signal, onWaiting);
    try {
      await this.sandbox.use(run, async (execute) => {
        signal.throwIfAborted();
        const { term } = this.held;
        term.require();
        this.receipts.begin(run.callId, run.fingerprint);
        // This process may have been stopped while it wrote.
        term.require();
        const result = await this.#track(run.callId, signal, async (stopping) => {
          const whole = await execute((output) => events.push({ kind: "output", output }), stopping);
          term.require();
          const fitting = this.#budget.fit(run.runId, whole);
          this.receipts.end(run.callId, fitting);
          return fitting;
        });
        events.push({ kind: "result", result });
      });
    } finally {
      release?.();
    }
  }

  /**
   * Looks for files with instructions, once there is room for its sandbox.
   * @throws HlvmError `too_many_sandboxes`, `sandbox_not_started`; the signal's reason where it waits
   */
  async readInstructions(asked: InstructionsAsked, waitMilliseconds: number, signal: AbortSignal): Promise<FoundInstructions> {
    const release = await this.#admit(waitMilliseconds, signal, () => undefined);
    try {
      return await this.sandbox.readInstructions(asked);
    } finally {
      release();
    }
  }

  /** Waits for the end of a call that runs; cancelling ends the call itself. @returns false where it does not run here */
  async join(callId: string, signal: AbortSignal): Promise<boolean> {
    const call = this.#running.get(callId);
    if (call === undefined) return false;
    stopWith(signal, call.stop);
    await call.ended;
    return true;
  }

  async #track<Result>(callId: string, signal: AbortSignal, work: (stopping: AbortSignal) => Promise<Result>): Promise<Result> {
    const stop = new AbortController();
    stopWith(signal, stop);
    const result = work(stop.signal);
    this.#running.set(callId, { stop, ended: result.catch(() => undefined) });
    try {
      return await result;
    } finally {
      this.#running.delete(callId);
    }
  }

  /** @returns gives the room back */
  async #admit(waitMilliseconds: number, signal: AbortSignal, onWaiting: (position: number) => void): Promise<() => void> {
    const person = `${this.owner.organization}\n${this.owner.id}`;
    const leave = (): void => {
      if (--this.#underWay === 0) this.#onIdle();
    };
    this.#underWay++;
    try {
      const release = await this.#admission.acquire({ sandbox: this.sandbox, person, signal, waitMilliseconds, onWaiting });
      return () => {
        release();
        leave();
      };
    } catch (thrown) {
      leave();
      throw thrown;
    }
  }
}

/** A caller that is lost stops nothing. */
function stopWith(signal: AbortSignal, stop: AbortController): void {
  const abort = (): void => {
    const { reason } = signal;
    if (!(reason instanceof HlvmError && reason.reason === "caller_lost")) stop.abort(reason);
  };
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
}
