import type { LimitFunction } from "p-limit";
import type { Model } from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { AgentProfile } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { Spending } from "../budget/spending.ts";
import type { ContextWindow } from "../context/context-window.ts";
import type { InstructionFinder } from "../instructions/instruction-finder.ts";
import type { EventLog } from "../log/event-log.ts";
import type { RunJournal } from "../log/run-journal.ts";
import type { Prefix } from "../prompt/compile-prefix.ts";
import type { OutcomeRecorder } from "../tools/outcome-recorder.ts";
import type { CallWaits } from "../tools/call-waits.ts";
import type { LoopDetector } from "../tools/loop-detector.ts";
import type { RecordedResults } from "../replay/recorded-results.ts";
import type { RunInbox } from "../run/run-inbox.ts";
import type { RunSecrets } from "../secrets/run-secrets.ts";
import type { ResultBudget } from "../tools/result-budget.ts";
import type { RunWorkers } from "../workers/run-workers.ts";
import type { Limits } from "./limits.ts";
import type { Mesh } from "./ports.ts";

/** All that the parts of one run share. */
export interface RunContext {
  readonly sessionId: string;
  readonly runId: string;
  /** By which the sandbox, policy and audit know its workspace and calls: a worker's is that of the run at the top. */
  readonly workspaceSessionId: string;
  readonly workspace: string;
  /** Who started the run. */
  readonly principal: string;
  readonly stateless: boolean;
  readonly model: Model;
  readonly prefix: Prefix;
  /** Lets no secret in. Another one after `redelegate`. */
  readonly mesh: Mesh;
  /** Has the run go on by another delegation. @throws HlvmError where it is none for this run, or the run was lost */
  readonly redelegate: (delegation: string) => Promise<void>;
  readonly secrets: RunSecrets;
  readonly journal: RunJournal;
  readonly log: Pick<EventLog, "readResult">;
  /** What the model has before it. */
  readonly context: ContextWindow;
  readonly outcomes: OutcomeRecorder;
  readonly spending: Spending;
  readonly limits: Limits;
  readonly detector: LoopDetector;
  readonly results: ResultBudget;
  readonly waits: CallWaits;
  /** What people say to the run while it goes on. */
  readonly inbox: RunInbox;
  readonly instructions: InstructionFinder;
  readonly workers: Pick<RunWorkers, "beginTurn" | "spawn">;
  /** Of a run that goes on from a turn of a recording: what its calls are given instead of being run. */
  readonly recorded?: RecordedResults;
  readonly agent: AgentProfile;
  /** Whether a person is asked to make a call once more of which nobody knows whether it took effect; else the model is told. */
  readonly asksInDoubt: boolean;
  /** How many tools run at a time. */
  readonly toolLimit: LimitFunction;
  /** Aborted with an Interruption, or with a BudgetExhausted when the time of the run's own is over. */
  readonly signal: AbortSignal;
  /** Aborted with an Interruption when the process ends: the run is handed over before its next step. */
  readonly draining: AbortSignal;
}
