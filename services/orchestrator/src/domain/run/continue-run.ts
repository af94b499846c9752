import type { Log } from "@hlvm/log/create-log";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { messageOf } from "@hlvm/errors/message-of";
import type { Delegation } from "@hlvm/identity/delegation";
import { StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { genAi } from "@hlvm/telemetry/gen-ai-names";
import { inSpan } from "@hlvm/telemetry/span";
import { runPast } from "../fold/run-past.ts";
import type { EventLog } from "../log/event-log.ts";
import { eventPayload } from "../log/event-payload.ts";
import type { Mesh } from "../loop/ports.ts";
import { retryWhileAway } from "../loop/retry-while-away.ts";
import { stopOf } from "../loop/stop.ts";
import { onlyLooks } from "../replay/replay-run.ts";
import { compilePrefix } from "../prompt/compile-prefix.ts";
import { redactMesh } from "../secrets/redact-mesh.ts";
import { RunSecrets } from "../secrets/run-secrets.ts";
import type { BegunRun } from "./begun-run.ts";
import { workspaceSessionOf } from "../session/session.ts";
import { isHandOver } from "./interruption.ts";
import { payerOf } from "../budget/payer.ts";
import { resumeAdvice } from "./resume-advice.ts";
import type { ClaimedRun, RunClaims } from "./run-claims.ts";

/** A run that has ended so many processes, one after the other, without getting any further is ended itself. */
const MAXIMUM_FRUITLESS_CLAIMS = 8;

export interface ContinuePorts {
  readonly eventLog: EventLog;
  readonly claims: Pick<RunClaims, "release">;
  /** @throws HlvmError `delegation_refused` where it counts no more */
  readonly verifyDelegation: (delegation: string) => Delegation;
  /** The other services, called for a run. */
  readonly meshFor: (delegated: { readonly delegation: Delegation; readonly text: string }) => Mesh;
  readonly execute: (run: BegunRun, controller: AbortController) => Promise<void>;
  /** How long a run waits for a service that is away. */
  readonly serviceMilliseconds: number;
  readonly log: Log;
}

/**
 * Goes on with a run whose process ended or let go of it, from what its log says. Never throws: a run that cannot be gone on
 * with gets its end, which says why.
 */
export function continueRun(claimed: ClaimedRun, ports: ContinuePorts, controller: AbortController): Promise<void> {
  const { sessionId, runId } = claimed.lease;
  const attributes = { [genAi.conversationId]: sessionId, "hlvm.run.id": runId };
  return inSpan("hlvm.take_over_run", { attributes }, () => goOn(claimed, ports, controller));
}

async function goOn(claimed: ClaimedRun, ports: ContinuePorts, controller: AbortController): Promise<void> {
  const { lease } = claimed;
  try {
    const waited = claimed.wasParked || claimed.wasQueued;
    ports.log.info({ runId: lease.runId, turn: claimed.turn }, waited ? "a run that waited goes on" : "a run is taken over");
    if (claimed.fruitlessClaims > MAXIMUM_FRUITLESS_CLAIMS) throw fruitless();
    await ports.execute(await resume(claimed, ports, controller.signal), controller);
  } catch (cause) {
    if (isHandOver(controller.signal.reason)) return ports.claims.release(lease).catch(() => undefined);
    ports.log.warn({ err: cause, runId: lease.runId }, "a run could not be gone on with");
    await endRun(claimed, controller.signal.aborted ? controller.signal.reason : cause, ports);
  }
}

async function resume(claimed: ClaimedRun, ports: ContinuePorts, signal: AbortSignal): Promise<BegunRun> {
  const { lease, session, principal, appended, turn, ageMilliseconds, wasParked, wasQueued } = claimed;
  const delegated = delegatedTo(claimed, ports);
  const mesh = ports.meshFor(delegated);
  const read = () => ports.eventLog.readRun(lease.sessionId, lease.runId);
  const past = runPast(lease.runId, await retryWhileAway(read, ports.serviceMilliseconds, signal));
  // Whatever ended the process may have ended others too.
  const [, model] = await Promise.all([
    onlyLooks(past.replay)
      ? undefined
      : retryWhileAway(
          () => mesh.sandbox.openWorkspace(workspaceSessionOf(session), session.workspace, signal),
          ports.serviceMilliseconds,
          signal,
        ),
    retryWhileAway(() => mesh.models.resolve(past.model, signal), ports.serviceMilliseconds, signal),
  ]);
  model.route = past.route;
  const secrets = new RunSecrets(session.secretKey, past.allowedSecrets);
  return {
    lease,
    principal,
    authority: { principal: delegated.delegation.principal, delegation: delegated.text, settings: delegated.delegation.settings },
    agent: past.agent,
    allowance: past.allowance,
    ...payerOf(delegated.delegation.principal),
    budget: past.budget,
    replay: past.replay,
    session,
    question: past.question,
    model,
    prefix: compilePrefix(session, model, past.agent),
    mesh: redactMesh(mesh, secrets),
    secrets,
    appended,
    past: wasQueued ? undefined : { ...past, turn, ageMilliseconds, wasParked },
  };
}

function delegatedTo(
  { lease, session, delegation: text }: Pick<ClaimedRun, "lease" | "session" | "delegation">,
  { verifyDelegation }: ContinuePorts,
): { delegation: Delegation; text: string } {
  const delegation = text === undefined ? undefined : verifyDelegation(text);
  if (text !== undefined && delegation?.runId === lease.runId && delegation.sessionId === workspaceSessionOf(session))
    return { delegation, text };
  throw new HlvmError({
    code: "permission_denied",
    reason: "delegation_missing",
    message: "Nothing says any more what this run may do for its person.",
  });
}

/** Where that fails too, the run is claimed again. */
async function endRun(
  { lease, delegation, session, principal, appended, turn, wasQueued }: ClaimedRun,
  cause: unknown,
  ports: ContinuePorts,
): Promise<void> {
  const stop = stopOf(cause, session);
  const isCancelled = stop.reason === StopReason.USER_CANCELLED;
  const failed = wasQueued
    ? "This run waited until there was room for it, and could not begin then"
    : "The process that held this run ended, and no other one could go on with it";
  const message = isCancelled ? stop.message : `${failed}: ${messageOf(cause)}`;
  const advice = wasQueued ? resumeAdvice(session) : `A tool that was running may or may not have taken effect. ${resumeAdvice(session)}`;
  const payload = eventPayload("runStopped", { reason: stop.reason, message, advice, turns: turn });
  const events = [{ turn, payload }];
  await withdrawApprovals({ lease, session, delegation }, ports);
  try {
    await ports.eventLog.append({ lease, principal, position: appended, events, stopReason: stop.reason, isUnreconciled: true });
  } catch (failure) {
    ports.log.warn({ err: failure, runId: lease.runId }, "a run's end could not be written");
    await ports.claims.release(lease).catch(() => undefined);
  }
}

/** What cannot be withdrawn expires by itself; without its run an answer has no effect. */
async function withdrawApprovals(claimed: Pick<ClaimedRun, "lease" | "session" | "delegation">, ports: ContinuePorts): Promise<void> {
  try {
    await ports.meshFor(delegatedTo(claimed, ports)).policy.withdrawApprovals(claimed.lease.runId);
  } catch (cause) {
    ports.log.debug({ err: cause, runId: claimed.lease.runId }, "what a run has asked was not withdrawn");
  }
}

function fruitless(): HlvmError {
  return new HlvmError({
    code: "internal",
    reason: "run_fruitless",
    message: `it was taken over ${MAXIMUM_FRUITLESS_CLAIMS} times without getting any further`,
    advice: "Look into the orchestrator's log for why its processes ended.",
  });
}
