import { setTimeout as sleep } from "node:timers/promises";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { DecidingStep, Decision, type Approval, type Verdict } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { keepChanges } from "@hlvm/tools/platform-tools";
import type { RunContext } from "../loop/run-context.ts";
import type { ToolCall } from "../loop/ports.ts";
import { holdsSecretMark } from "../secrets/run-secrets.ts";
import type { TurnCalls } from "./call-tool.ts";
import { denial } from "./denial.ts";
import { permissionCheck } from "./permission-check.ts";
import { permissionOf, type Permission } from "./permission.ts";
import { unlessAnswerLost } from "./unless-answer-lost.ts";

/** What is waited longer than an approval says that it lasts, so that policy's own answer comes first. */
const MARGIN_MILLISECONDS = 10_000;
/** Where an approval does not say: the seeds' limit for a person's answer. */
const DEFAULT_WAIT_MILLISECONDS = 300_000;
const RETRY_MILLISECONDS = 500;

/** Waits for a person's answer. @throws HlvmError where there is none to be had: nothing may run then */
export function awaitApproval(call: ToolCall, approval: Approval, calls: TurnCalls): Promise<Permission> {
  const { turn, run, signal } = calls;
  return unlessAnswerLost(call, calls, async () => {
    // Nothing is lost where the run is handed over now: whoever goes on with it waits for the same answer.
    const expires = expiryOf(approval);
    const wait = (): Promise<Verdict | undefined> => answerTo(approval, expires, run, AbortSignal.any([signal, run.draining]));
    const answer = await (isParkable(call, run) ? run.waits.answer(expires, wait) : wait());
    // The wait may have been long: the append tells whether the run still holds its lease.
    if (answer !== undefined) {
      await run.journal.append(turn, permissionCheck(call, answer));
      return permissionOf(call, answer);
    }
    const reason = "Nobody answered in time.";
    await run.journal.append(turn, permissionCheck(call, { decision: Decision.DENY, step: DecidingStep.APPROVAL, reason }));
    return { denial: denial(call, reason) };
  });
}

/**
 * Whether another process could go on with the call. A secret that a person let through is known to this one alone, and what
 * a command changed is held by the sandbox for as long as the run waits here.
 */
function isParkable({ tool, argumentsJson }: ToolCall, { secrets }: RunContext): boolean {
  return tool !== keepChanges.name && !holdsSecretMark(secrets.redactArguments(argumentsJson));
}

function expiryOf({ expiresAt }: Approval): Date {
  return expiresAt === undefined ? new Date(Date.now() + DEFAULT_WAIT_MILLISECONDS) : timestampDate(expiresAt);
}

async function answerTo(approval: Approval, expires: Date, run: RunContext, signal: AbortSignal): Promise<Verdict | undefined> {
  // From here on by a clock that does not jump.
  const endsAt = performance.now() + expires.getTime() - Date.now() + MARGIN_MILLISECONDS;
  // Once at least: an answer that was given in time is there also where the run was taken over late.
  do {
    try {
      const verdict = await run.mesh.policy.awaitApproval(approval.approvalId, signal);
      if (verdict !== undefined) return verdict;
    } catch (thrown) {
      signal.throwIfAborted();
      if (!(thrown instanceof HlvmError) || thrown.code !== "unavailable") throw thrown;
      await sleep(RETRY_MILLISECONDS, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  } while (performance.now() < endsAt);
  return undefined;
}
