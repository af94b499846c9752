import type { Client } from "@connectrpc/connect";
import { ApprovalKind, ApprovalState, type Approval, type PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import type { Event, PermissionCheck, WorkerPermission } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { fromConnectError } from "@hlvm/connect-errors/from-connect-error";
import { ANSWERS } from "./answers.ts";
import { printableLine } from "../terminal/printable.ts";
import type { AskedApproval, Desk } from "./ask-person.ts";

const CLOSED = "The question is closed: it was answered elsewhere, its time is over, or the run has stopped.";

/**
 * Puts a run's approvals to the person at the terminal, one at a time, in the order in which they were asked for. A question
 * is withdrawn when somebody else answers it, when it expires, or when the run stops.
 */
export class ApprovalDesk {
  readonly #policy: Client<typeof PolicyService>;
  readonly #desk: Desk;
  /** By call id. */
  readonly #open = new Map<string, AbortController>();
  /** Calls of workers that are open, and by which call of ours the worker was started. */
  readonly #ofWorkers = new Map<string, string>();
  #queue: Promise<void> = Promise.resolve();

  constructor(policy: Client<typeof PolicyService>, desk: Desk) {
    this.#policy = policy;
    this.#desk = desk;
  }

  event({ payload }: Event): void {
    if (payload.case === "permissionCheck") this.#permissionCheck(payload.value);
    else if (payload.case === "workerPermission") this.#workerPermission(payload.value);
    else if (payload.case === "workerCompleted") this.#workerCompleted(payload.value.callId);
    else if (payload.case === "toolEnd") this.#withdraw(payload.value.callId);
    else if (payload.case === "runStopped") this.close();
  }

  /** Withdraws every question. */
  close(): void {
    for (const callId of this.#open.keys()) this.#withdraw(callId);
  }

  #workerPermission({ callId, agentTypes, check }: WorkerPermission): void {
    if (check === undefined) return;
    this.#permissionCheck(check, printableLine(agentTypes.join(" › ")));
    this.#ofWorkers.set(check.callId, callId);
  }

  /** What it still asked for nobody can answer any more. */
  #workerCompleted(callId: string): void {
    for (const [asked, spawn] of this.#ofWorkers) if (spawn === callId) this.#withdraw(asked);
  }

  #permissionCheck({ callId, approval }: PermissionCheck, worker?: string): void {
    this.#withdraw(callId);
    if (approval?.state !== ApprovalState.PENDING) return;
    const withdrawn = new AbortController();
    this.#open.set(callId, withdrawn);
    this.#queue = this.#queue.then(() => this.#ask({ approval, worker }, withdrawn.signal));
  }

  #withdraw(callId: string): void {
    this.#open.get(callId)?.abort();
    this.#open.delete(callId);
    this.#ofWorkers.delete(callId);
  }

  async #ask({ approval, worker }: AskedApproval, withdrawn: AbortSignal): Promise<void> {
    // Most runs ask nothing, and what finds differences takes long to load.
    const { askPerson, headingOf, wholeApproval } = await import("./ask-person.ts");
    if (withdrawn.aborted) return;
    try {
      const whole = await wholeApproval(this.#policy, approval);
      if (whole.kind !== ApprovalKind.UNSPECIFIED) return await this.#putWords(whole, withdrawn);
      if (whole.notAnswerable !== "") return this.#desk.screen.note(`${headingOf(whole)}\n${whole.notAnswerable}`, "warning");
      const key = await askPerson({ approval: whole, worker }, this.#desk, withdrawn);
      if (key === undefined) return;
      if (key === "closed") return this.#desk.screen.note(CLOSED, "dim");
      const { answer, said } = ANSWERS[key as keyof typeof ANSWERS];
      this.#desk.screen.note(said, "dim");
      const { approvalId, argumentsHash, preview } = whole;
      await this.#policy.answerApproval({ approvalId, answer, argumentsHash, previewHash: preview?.hash });
    } catch (thrown) {
      this.#desk.screen.note(`The answer was not taken: ${fromConnectError(thrown).message}`, "bad");
    }
  }

  /** A plan, or a question that is answered with words. */
  async #putWords(approval: Approval, withdrawn: AbortSignal): Promise<void> {
    const { putPlan } = await import("./put-plan.ts");
    const { putClarification } = await import("./put-clarification.ts");
    const put = approval.kind === ApprovalKind.PLAN ? putPlan : putClarification;
    const said = await put(this.#policy, approval, this.#desk, withdrawn);
    this.#desk.screen.note(said === "closed" ? CLOSED : said, "dim");
  }
}
