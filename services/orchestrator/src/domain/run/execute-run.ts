import pLimit from "p-limit";
import type { Model } from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { Log } from "@hlvm/log/create-log";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { ContextWindow } from "../context/context-window.ts";
import { tokenBudget } from "../context/token-budget.ts";
import type { RunPast } from "../fold/run-past.ts";
import { InstructionFinder } from "../instructions/instruction-finder.ts";
import type { DeltaWriter } from "../log/delta-writer.ts";
import type { EventLog, Lease } from "../log/event-log.ts";
import { eventPayload, type EventPayload } from "../log/event-payload.ts";
import { RunJournal } from "../log/run-journal.ts";
import type { Limits } from "../loop/limits.ts";
import { ModelFailure } from "../loop/model-failure.ts";
import type { Mesh } from "../loop/ports.ts";
import { runLoop } from "../loop/run-loop.ts";
import { RunProgress } from "../loop/run-progress.ts";
import { stopOf, type Stop } from "../loop/stop.ts";
import type { Prefix } from "../prompt/compile-prefix.ts";
import type { RunSecrets } from "../secrets/run-secrets.ts";
import type { AttachedFiles } from "../session/attached-files.ts";
import type { SessionFacts } from "../session/session.ts";
import { CallWaits, type PersonWait } from "../tools/call-waits.ts";
import { LoopDetector } from "../tools/loop-detector.ts";
import { OutcomeRecorder } from "../tools/outcome-recorder.ts";
import { ResultBudget } from "../tools/result-budget.ts";
import type { AnsweredRuns } from "./answered-runs.ts";
import { Interruption, isHandOver } from "./interruption.ts";
import { observeRun, type EndedRun } from "./observe-run.ts";
import { resumeAdvice } from "./resume-advice.ts";
import type { RunClaims } from "./run-claims.ts";
import type { RunInboxes } from "./run-inboxes.ts";

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
  /** Of a new session all that its log holds, so that nobody has to read it. */
  readonly wholeLog?: readonly EventPayload[];
  /** Of a run that another process held before; `turn` is the last one of which the log has anything. */
  readonly past?: RunPast & { readonly turn: number; readonly ageMilliseconds: number; readonly wasParked: boolean };
}

/** What all runs of a process share. */
export interface RunPorts {
  readonly eventLog: EventLog;
  readonly attached: AttachedFiles;
  readonly deltas: DeltaWriter;
  readonly claims: Pick<RunClaims, "release" | "park">;
  readonly inboxes: Pick<RunInboxes, "open">;
  readonly asksInDoubt: boolean;
  readonly answers: Pick<AnsweredRuns, "isWatching" | "parked">;
  readonly limits: Limits;
  readonly log: Log;
  /** Aborted with an Interruption when the process ends. */
  readonly draining: AbortSignal;
}

/**
 * One run from its first model call, or from where another process left it, to its end in the log, unless it is handed over
 * to yet another one. Never throws: what goes wrong is how the run ended.
 */
export function executeRun(begun: BegunRun, ports: RunPorts, controller: AbortController): Promise<void> {
  return observeRun(begun, () => runToEnd(begun, ports, controller));
}

async function runToEnd(begun: BegunRun, ports: RunPorts, controller: AbortController): Promise<EndedRun> {
  const { lease, session, past, mesh } = begun;
  const { eventLog, deltas, limits, log, draining, answers, asksInDoubt } = ports;
  const { signal } = controller;
  const left = limits.runMilliseconds - (past?.ageMilliseconds ?? 0);
  const endsAt = Date.now() + left;
  const timer = setTimeout(() => controller.abort(new Interruption("timeout")), Math.max(0, left));
  const journal = new RunJournal({
    log: eventLog,
    deltas,
    lease,
    principal: begun.principal,
    position: begun.appended,
    onFailure: (cause) => controller.abort(new Interruption(isLost(cause) ? "lease_lost" : "log_unavailable", cause)),
  });
  const progress = new RunProgress(past);
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
    const context = await ContextWindow.open({ log: eventLog, attached: ports.attached }, session, begun.model, budget, wholeLog);
    const run = {
      sessionId: session.sessionId,
      runId: lease.runId,
      workspace: session.workspace,
      principal: begun.principal,
      stateless: session.stateless,
      model: begun.model,
      prefix: begun.prefix,
      mesh,
      secrets: begun.secrets,
      journal,
      log: eventLog,
      context,
      outcomes,
      limits,
      detector: new LoopDetector(limits.identicalCallsInARow),
      results: new ResultBudget(Math.max(0, limits.toolResultLength - (past?.resultLength ?? 0))),
      waits,
      inbox,
      instructions: new InstructionFinder(),
      asksInDoubt,
      toolLimit: pLimit(PARALLEL_TOOLS),
      signal,
      draining,
    };
    stop = await runLoop(begun.question, run, progress, past?.answered);
  } catch (thrown) {
    const cause: unknown = signal.aborted ? signal.reason : thrown;
    if (!(cause instanceof Interruption || cause instanceof ModelFailure || cause instanceof HlvmError))
      log.error({ err: cause, runId: lease.runId }, "a run ended with an error that nobody expected");
    if (!isHandOver(cause)) stop = stopOf(cause, session);
    else if (cause.kind === "parked") log.debug({ runId: lease.runId }, "a run that waits for a person was put aside");
    else log.warn({ err: cause.cause, runId: lease.runId, kind: cause.kind }, "a run was handed over");
  }
  clearTimeout(timer);
  const isUnreconciled = outcomes.close();
  if (stop !== undefined) await end(stop, { journal, progress, begun, log, isUnreconciled });
  else await handOver(lease, journal, ports, parked);
  return { reason: stop?.reason, progress };
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
  readonly begun: BegunRun;
  readonly log: Log;
  /** Whether the audit log may lack outcomes. */
  readonly isUnreconciled: boolean;
}

async function end(stop: Stop, { journal, progress, begun, log, isUnreconciled }: RunEnd): Promise<void> {
  const { runId, sessionId } = begun.lease;
  try {
    await journal.end(progress.turn, progress.stopped(stop), stop.reason, isUnreconciled);
    log.info({ runId, reason: stop.reason, turns: progress.turn, toolCalls: progress.toolCalls }, "run ended");
  } catch (cause) {
    log.warn({ err: cause, runId }, "a run's end could not be written; whoever claims it writes it");
    return;
  }
  if (begun.session.stateless)
    await begun.mesh.sandbox
      .closeWorkspace(sessionId)
      .catch((cause: unknown) => log.warn({ err: cause, sessionId }, "a workspace was not closed"));
}

function isLost(cause: unknown): boolean {
  return cause instanceof HlvmError && cause.reason === "lease_lost";
}
