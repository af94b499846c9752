import { EventQueue } from "./event-queue.ts";
import type { ToolRun } from "./isolation.ts";
import type { Owner, Receipts } from "./receipts.ts";
import { ResultBudget } from "./result-budget.ts";
import type { SessionSandbox } from "./session-sandbox.ts";
import type { ToolEvent } from "./tool-event.ts";
import type { WorkspaceFolder } from "./workspace-folder.ts";

/** A call of a session, with what its receipt and its run's budget are found by. */
export interface SessionRun extends ToolRun {
  readonly runId: string;
  readonly fingerprint: string;
}

/** A session whose workspace is open. */
export class Session {
  readonly owner: Owner;
  readonly workspace: WorkspaceFolder;
  readonly receipts: Receipts;
  readonly sandbox: SessionSandbox;
  readonly #budget = new ResultBudget();

  constructor(owner: Owner, workspace: WorkspaceFolder, receipts: Receipts, sandbox: SessionSandbox) {
    this.owner = owner;
    this.workspace = workspace;
    this.receipts = receipts;
    this.sandbox = sandbox;
  }

  /**
   * Runs a granted call. It comes to its end, and its receipt is written, whether or not somebody reads the events.
   * @throws HlvmError where it did not start: `call_already_started`, `sandbox_not_started`
   */
  async *run(run: SessionRun, signal: AbortSignal): AsyncGenerator<ToolEvent, void> {
    const events = new EventQueue<ToolEvent>();
    const finished = this.#finish(run, events, signal).finally(() => events.close());
    finished.catch(() => undefined);
    yield* events.read();
    await finished;
  }

  #finish(run: SessionRun, events: EventQueue<ToolEvent>, signal: AbortSignal): Promise<void> {
    return this.sandbox.use(run, async (execute) => {
      signal.throwIfAborted();
      this.receipts.begin(run.callId, run.fingerprint);
      const whole = await execute((output) => events.push({ kind: "output", output }), signal);
      const result = this.#budget.fit(run.runId, whole);
      this.receipts.end(run.callId, result);
      events.push({ kind: "result", result });
    });
  }
}
