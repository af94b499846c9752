import pLimit from "p-limit";
import type { Log } from "@hlvm/log/create-log";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { Replay_Kind as Kind, StopReason, type Replay } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { BudgetExhausted } from "../budget/budget-exhausted.ts";
import { runTime } from "../budget/run-time.ts";
import { Spending } from "../budget/spending.ts";
import { ContextWindow } from "../context/context-window.ts";
import { tokenBudget } from "../context/token-budget.ts";
import { InstructionFinder } from "../instructions/instruction-finder.ts";
import type { Lease } from "../log/event-log.ts";
import { eventPayload } from "../log/event-payload.ts";
import { RunJournal } from "../log/run-journal.ts";
import type { Limits } from "../loop/limits.ts";
import { ModelFailure } from "../loop/model-failure.ts";
import { runLoop } from "../loop/run-loop.ts";
import { RecordedResults } from "../replay/recorded-results.ts";
import { onlyLooks, replayRun } from "../replay/replay-run.ts";
import { RunProgress } from "../loop/run-progress.ts";
import { stopOf, type Stop } from "../loop/stop.ts";
import { workspaceSessionOf } from "../session/session.ts";
import { CallWaits, type PersonWait } from "../tools/call-waits.ts";
import { LoopDetector } from "../tools/loop-detector.ts";
import { OutcomeRecorder } from "../tools/outcome-recorder.ts";
import { ResultBudget } from "../tools/result-budget.ts";
import { RunWorkers } from "../workers/run-workers.ts";
import { Interruption, isHandOver } from "./interruption.ts";
import { isLeaseLost } from "./lease-lost.ts";
import { observeRun, type EndedRun } from "./observe-run.ts";
import { redelegateRun } from "./redelegate-run.ts";
import { resumeAdvice } from "./resume-advice.ts";
import { retryReads, type RunReads } from "./retry-reads.ts";
import type { BegunRun } from "./begun-run.ts";
import type { RunPorts } from "./run-ports.ts";

/** Tools that one run has going at a time. */
const PARALLEL_TOOLS = 8;

/**
 * One run from its first model call, or from where another process left it, to its end in the log, unless it is handed over
 * to yet another one. Never throws: what goes wrong is how the run ended.
 */
export function executeRun(begun: BegunRun, ports: RunPorts, controller: AbortController): Promise<void> {
  return observeRun(begun, () => runToEnd(begun, ports, controller));
}

async function runToEnd(begun: BegunRun, ports: RunPorts, controller: AbortController): Promise<EndedRun> {
  const { lease, session, past, mesh } = begun;
  const { eventLog, deltas, log, draining, answers, asksInDoubt } = ports;
  const limits = limitsOf(begun, ports.limits);
  const { signal } = controller;
  const limit = runTime(begun, limits.runMilliseconds);
  const left = limit.milliseconds - (past?.ageMilliseconds ?? 0);
  const endsAt = Date.now() + left;
  const timer = setTimeout(() => controller.abort(limit.reason), Math.max(0, left));
  const journal = new RunJournal({
    log: eventLog,
    deltas,
    lease,
    principal: begun.principal,
    teams: begun.teams,
    position: begun.appended,
    onFailure: (cause) => controller.abort(new Interruption(isLeaseLost(cause) ? "lease_lost" : "log_unavailable", cause)),
  });
  const progress = new RunProgress(past);
  const spending = new Spending({
    budgets: ports.budgets,
    isLimited: () => begun.budget !== undefined || ports.configuredBudgets.has(begun.organization),
    lease,
    teams: begun.teams,
    model: begun.model,
    past: past?.cost,
    serviceMilliseconds: limits.serviceMilliseconds,
  });
  const lastCall = ports.usage.lastCall(session.sessionId).then(
    (earlier) => earlier && spending.prefixes.continue(earlier),
    (err: unknown) => log.warn({ err }, "the call before this run is not known"),
  );
  let parked: PersonWait | undefined;
  using waits = new CallWaits(limits.parkMilliseconds, (wait) => {
    if (!answers.isWatching) return false;
    parked = { ...wait, until: new Date(Math.min(wait.until.getTime(), endsAt)) };
    controller.abort(new Interruption("parked"));
    return true;
  });
  using inbox = ports.inboxes.open(lease, past?.readSequences);
  const outcomes = new OutcomeRecorder(mesh.audit, limits.serviceMilliseconds, resumeAdvice(session));
  let stop: Stop | undefined;
  try {
    if (past !== undefined) {
      // The process before may have ended between a call's end and its outcome.
      outcomes.leave();
      if (!past.wasParked) void journal.append(past.turn, eventPayload("runTakenOver", {}));
    }
    const budget = tokenBudget(begun.model.contextWindow, limits);
    const { runId } = lease;
    const wholeLog = begun.wholeLog?.map((payload) => ({ runId, turn: 0, payload, principal: begun.principal }));
    const reads = retryReads({ log: eventLog, attached: ports.attached }, limits.serviceMilliseconds, signal);
    const context = await ContextWindow.open(reads, session, begun.model, budget, wholeLog);
    await lastCall;
    let current = mesh;
    const run = {
      sessionId: session.sessionId,
      workspaceSessionId: workspaceSessionOf(session),
      runId: lease.runId,
      workspace: session.workspace,
      principal: begun.principal,
      stateless: session.stateless,
      model: begun.model,
      prefix: begun.prefix,
      get mesh() {
        return current;
      },
      redelegate: async (delegation: string): Promise<void> => {
        current = await redelegateRun(begun, delegation, ports);
        begun.authority = { ...begun.authority, delegation, settings: ports.verifyDelegation(delegation).settings };
      },
      secrets: begun.secrets,
      journal,
      log: reads.log,
      context,
      outcomes,
      spending,
      limits,
      detector: new LoopDetector(limits.identicalCallsInARow),
      results: new ResultBudget(Math.max(0, limits.toolResultLength - (past?.resultLength ?? 0))),
      waits,
      inbox,
      instructions: new InstructionFinder(),
      workers: new RunWorkers(begun, ports.workers, progress, limits.turns, performance.now() + left),
      recorded: past === undefined ? await recordedFor(begun.replay, reads) : undefined,
      agent: begun.agent.profile,
      asksInDoubt,
      toolLimit: pLimit(PARALLEL_TOOLS),
      signal,
      draining,
    };
    const { replay } = begun;
    stop = onlyLooks(replay)
      ? await replayRun(replay, run, progress, past?.replayed ?? 0, { ...reads, facts: session })
      : await runLoop(begun.question, run, progress, past?.answered);
  } catch (thrown) {
    const cause: unknown = signal.aborted ? signal.reason : thrown;
    if (!(cause instanceof Interruption || cause instanceof ModelFailure || cause instanceof HlvmError || cause instanceof BudgetExhausted))
      log.error({ err: cause, runId: lease.runId }, "a run ended with an error that nobody expected");
    if (!isHandOver(cause)) stop = stopOf(cause, session);
    else if (cause.kind === "parked") log.debug({ runId: lease.runId }, "a run that waits for a person was put aside");
    else log.warn({ err: cause.cause, runId: lease.runId, kind: cause.kind }, "a run was handed over");
  }
  clearTimeout(timer);
  const isUnreconciled = outcomes.close();
  if (stop !== undefined) await end(stop, { journal, progress, spending, begun, log, isUnreconciled });
  else await handOver(lease, journal, ports, parked);
  return { reason: stop?.reason, progress, cost: spending.cost };
}

/** Whoever takes a run over does not know what it has written: its calls run. */
async function recordedFor(replay: Replay | undefined, { log }: RunReads): Promise<RecordedResults | undefined> {
  return replay?.kind === Kind.FORK ? new RecordedResults(await log.readRecorded(replay.sessionId), replay) : undefined;
}

/** A worker has what was carved for it, and no more than any run. */
function limitsOf({ allowance }: BegunRun, limits: Limits): Limits {
  if (allowance === undefined) return limits;
  const turns = Math.min(limits.turns, allowance.turns);
  return { ...limits, turns, runMilliseconds: Math.min(limits.runMilliseconds, allowance.milliseconds) };
}

/** What is on its way into the log comes first, as far as that is possible. */
async function handOver(lease: Lease, { records }: RunJournal, { claims, log, answers }: RunPorts, parked?: PersonWait): Promise<void> {
  await records.settle(AbortSignal.abort()).catch(() => undefined);
  const letGo =
    parked === undefined ? claims.release(lease) : claims.park(lease, parked.until).then(() => answers.parked(lease.runId, parked.since));
  await letGo.catch((cause: unknown) => log.warn({ err: cause, runId: lease.runId }, "a run was not released; it is claimed without that"));
}

interface RunEnd {
  readonly journal: RunJournal;
  readonly progress: RunProgress;
  readonly spending: Spending;
  readonly begun: BegunRun;
  readonly log: Log;
  /** Whether the audit log may lack outcomes. */
  readonly isUnreconciled: boolean;
}

async function end(stop: Stop, { journal, progress, spending, begun, log, isUnreconciled }: RunEnd): Promise<void> {
  const { runId, sessionId } = begun.lease;
  try {
    await journal.end(progress.turn, progress.stopped(stop, spending.cost), stop.reason, isUnreconciled);
    log.info({ runId, reason: stop.reason, turns: progress.turn, toolCalls: progress.toolCalls }, "run ended");
  } catch (cause) {
    log.warn({ err: cause, runId }, "a run's end could not be written; whoever claims it writes it");
    return;
  }
  await recordAnswer(stop, progress, begun, log);
  if (begun.session.stateless && begun.session.worker === undefined)
    await begun.mesh.sandbox
      .closeWorkspace(sessionId)
      .catch((cause: unknown) => log.warn({ err: cause, sessionId }, "a workspace was not closed"));
}

/** Has memory find out whether what it showed the run was of use. */
async function recordAnswer(
  { reason }: Stop,
  { text }: RunProgress,
  { question, session, lease, mesh }: BegunRun,
  log: Log,
): Promise<void> {
  if (reason !== StopReason.COMPLETED || text === "" || session.stateless || session.worker !== undefined) return;
  const asked = { sessionId: session.sessionId, runId: lease.runId, workspace: session.workspace, question };
  await mesh.memory
    .recordAnswer(asked, text)
    .catch((cause: unknown) => log.debug({ err: cause, runId: lease.runId }, "what an answer has of memory is not on record"));
}
