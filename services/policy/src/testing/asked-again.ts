import type { Principal } from "@hlvm/identity/principal";
import { OutcomeStatus, type AuditEvent, type AuditKind } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { ApprovalAnswer, type Verdict } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { testPrincipal } from "@hlvm/testing/test-identity";
import { settingsOf, type callOf, type Settings } from "./test-calls.ts";
import type { TestPolicy } from "./start-test-policy.ts";

export type Call = ReturnType<typeof callOf>;

export interface Caller {
  readonly settings?: Settings;
  readonly principal?: Principal;
}

export interface AskedAgain {
  readonly decide: (call: Call, caller?: Caller) => Promise<Verdict>;
  /** A person's answer; the run has not taken it. */
  readonly answer: (approvalId: string, answer?: ApprovalAnswer) => Promise<void>;
  readonly take: (approvalId: string, call: Call, caller?: Caller) => Promise<Verdict>;
  /** Says yes and takes it. */
  readonly approve: (call: Call) => Promise<{ readonly approvalId: string; readonly verdict: Verdict }>;
  readonly record: (call: Call) => Promise<unknown>;
  readonly events: (call: Call, kind: AuditKind) => Promise<AuditEvent[]>;
}

/** What runs of one person ask of the service, one after the other or at once. */
export function askedAgain(service: () => TestPolicy, person: Principal): AskedAgain {
  const options = ({ sessionId, runId }: Call, { principal = person, settings = {} }: Caller = {}) =>
    service().forRun({ principal, sessionId, runId, settings: settingsOf(settings) });
  const decide: AskedAgain["decide"] = async (call, caller) => (await service().policy.decide({ call }, options(call, caller))).verdict!;
  const answer: AskedAgain["answer"] = async (approvalId, given = ApprovalAnswer.ONCE) => {
    await service().policy.answerApproval({ approvalId, answer: given }, service().as(testPrincipal));
  };
  const take: AskedAgain["take"] = async (approvalId, call, caller) =>
    (await service().policy.awaitApproval({ approvalId }, options(call, caller))).verdict!;
  return {
    decide,
    answer,
    take,
    approve: async (call) => {
      const { approvalId } = (await decide(call)).approval!;
      await answer(approvalId);
      return { approvalId, verdict: await take(approvalId, call) };
    },
    record: ({ sessionId, runId, callId, ...call }) =>
      service().audit.recordOutcome(
        { sessionId, runId, callId, status: OutcomeStatus.SUCCEEDED },
        options({ sessionId, runId, callId, ...call }),
      ),
    events: async ({ sessionId }, kind) => (await service().audit.query({ sessionId, kind }, service().as(testPrincipal))).events,
  };
}
