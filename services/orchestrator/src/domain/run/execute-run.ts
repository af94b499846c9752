import pLimit from "p-limit";
import type { Model } from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { Log } from "@hlvm/log/create-log";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { Conversation } from "../fold/conversation.ts";
import type { DeltaWriter } from "../log/delta-writer.ts";
import type { EventLog, Lease } from "../log/event-log.ts";
import { RunJournal } from "../log/run-journal.ts";
import type { Limits } from "../loop/limits.ts";
import { ModelFailure } from "../loop/model-failure.ts";
import type { Mesh } from "../loop/ports.ts";
import { Records } from "../loop/records.ts";
import { runLoop } from "../loop/run-loop.ts";
import { RunProgress } from "../loop/run-progress.ts";
import { stopOf, type Stop } from "../loop/stop.ts";
import type { Prefix } from "../prompt/compile-prefix.ts";
import type { RunSecrets } from "../secrets/run-secrets.ts";
import type { SessionFacts } from "../session/session.ts";
import { LoopDetector } from "../tools/loop-detector.ts";
import { OutcomeRecorder } from "../tools/outcome-recorder.ts";
import { ResultBudget } from "../tools/result-budget.ts";
import { Interruption } from "./interruption.ts";
import { observeRun, type EndedRun } from "./observe-run.ts";
import { resumeAdvice } from "./resume-advice.ts";

/** Tools that one run has going at a time. */
const PARALLEL_TOOLS = 8;

export interface BegunRun {
  readonly lease: Lease;
  readonly principal: string;
  readonly session: SessionFacts;
  readonly question: string;
  readonly model: Model;
  readonly prefix: Prefix;
  /** Lets no secret in. */
  readonly mesh: Mesh;
  readonly secrets: RunSecrets;
  /** Events that it has in the log so far. */
  readonly appended: number;
}

/** What all runs of a process write their logs through. */
export interface RunLogs {
  readonly eventLog: EventLog;
  readonly deltas: DeltaWriter;
}

/** One run from its first model call to its end in the log. Never throws: what goes wrong is how the run ended. */
export function executeRun(begun: BegunRun, logs: RunLogs, limits: Limits, log: Log, controller: AbortController): Promise<void> {
  return observeRun(begun, () => runToEnd(begun, logs, limits, log, controller));
}

async function runToEnd(
  begun: BegunRun,
  { eventLog, deltas }: RunLogs,
  limits: Limits,
  log: Log,
  controller: AbortController,
): Promise<EndedRun> {
  const { lease, session } = begun;
  const timer = setTimeout(() => controller.abort(new Interruption("timeout")), limits.runMilliseconds);
  const journal = new RunJournal({
    log: eventLog,
    deltas,
    lease,
    principal: begun.principal,
    position: begun.appended,
    onFailure: (cause) => controller.abort(new Interruption(isLost(cause) ? "lease_lost" : "log_unavailable", cause)),
  });
  const progress = new RunProgress();
  const outcomes = new OutcomeRecorder(begun.mesh.audit, limits.outcomeMilliseconds, resumeAdvice(session));
  const { signal } = controller;
  let stop: Stop;
  try {
    const conversation = new Conversation(begun.model.id);
    for (const event of await eventLog.readConversation(session.sessionId)) conversation.add(event);
    const run = {
      sessionId: session.sessionId,
      runId: lease.runId,
      workspace: session.workspace,
      stateless: session.stateless,
      model: begun.model,
      prefix: begun.prefix,
      mesh: begun.mesh,
      secrets: begun.secrets,
      journal,
      records: new Records(),
      outcomes,
      limits,
      detector: new LoopDetector(limits.identicalCallsInARow),
      results: new ResultBudget(limits.toolResultLength),
      toolLimit: pLimit(PARALLEL_TOOLS),
      signal,
    };
    stop = await runLoop(begun.question, conversation, run, progress);
  } catch (thrown) {
    const cause: unknown = signal.aborted ? signal.reason : thrown;
    if (!(cause instanceof Interruption || cause instanceof ModelFailure || cause instanceof HlvmError))
      log.error({ err: cause, runId: lease.runId }, "a run ended with an error that nobody expected");
    stop = stopOf(cause, session);
  }
  clearTimeout(timer);
  await end({ stop, journal, progress, begun, log, signal, isUnreconciled: outcomes.close() });
  return { reason: stop.reason, progress };
}

interface RunEnd {
  readonly stop: Stop;
  readonly journal: RunJournal;
  readonly progress: RunProgress;
  readonly begun: BegunRun;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Whether the audit log may lack outcomes. */
  readonly isUnreconciled: boolean;
}

async function end({ stop, journal, progress, begun, log, signal, isUnreconciled }: RunEnd): Promise<void> {
  const { runId, sessionId } = begun.lease;
  const interruption: unknown = signal.reason;
  if (interruption instanceof Interruption && !interruption.mayAppend) {
    log.warn({ err: interruption.cause, runId, kind: interruption.kind }, "a run was stopped; its end is written by whoever claims it");
  } else {
    try {
      await journal.end(progress.turn, progress.stopped(stop), stop.reason, isUnreconciled);
      log.info({ runId, reason: stop.reason, turns: progress.turn, toolCalls: progress.toolCalls }, "run ended");
    } catch (cause) {
      log.warn({ err: cause, runId }, "a run's end could not be written; whoever claims it writes it");
    }
  }
  if (begun.session.stateless)
    await begun.mesh.sandbox
      .closeWorkspace(sessionId)
      .catch((cause: unknown) => log.warn({ err: cause, sessionId }, "a workspace was not closed"));
}

function isLost(cause: unknown): boolean {
  return cause instanceof HlvmError && cause.reason === "lease_lost";
}
