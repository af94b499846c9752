import type { Client } from "@connectrpc/connect";
import { sha256Hex } from "@hlvm/canonical-json/sha256-hex";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { ApprovalAnswer, ApprovalState, type Approval, type PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { SafetyLevelSchema } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import type { Event, PermissionCheck } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { fromConnectError } from "@hlvm/rpc/from-connect-error";
import { readKey, type Keyboard } from "../terminal/read-key.ts";
import type { Screen } from "../terminal/screen.ts";
import { presentFile } from "./present-file.ts";

const ANSWERS: Readonly<Record<string, { readonly answer: ApprovalAnswer; readonly said: string }>> = {
  y: { answer: ApprovalAnswer.ONCE, said: "Allowed, this once." },
  n: { answer: ApprovalAnswer.DENY, said: "Denied." },
  a: { answer: ApprovalAnswer.SESSION, said: "Allowed, for this session." },
};
const QUESTION = "y / n / a (always for this session)";

/**
 * Puts a run's approvals to the person at the terminal, one at a time, in the order in which they were asked for. A question
 * is withdrawn when somebody else answers it, when it expires, or when the run stops.
 */
export class ApprovalDesk {
  readonly #policy: Client<typeof PolicyService>;
  readonly #screen: Screen;
  readonly #keyboard: Keyboard;
  readonly #onControlC: () => void;
  /** By call id. */
  readonly #open = new Map<string, AbortController>();
  #queue: Promise<void> = Promise.resolve();
  #workspace = "";

  constructor(policy: Client<typeof PolicyService>, screen: Screen, keyboard: Keyboard, onControlC: () => void) {
    this.#policy = policy;
    this.#screen = screen;
    this.#keyboard = keyboard;
    this.#onControlC = onControlC;
  }

  event({ payload }: Event): void {
    if (payload.case === "runStarted") this.#workspace = payload.value.workspace;
    else if (payload.case === "permissionCheck") this.#permissionCheck(payload.value);
    else if (payload.case === "toolEnd") this.#withdraw(payload.value.callId);
    else if (payload.case === "runStopped") this.close();
  }

  /** Withdraws every question. */
  close(): void {
    for (const callId of this.#open.keys()) this.#withdraw(callId);
  }

  #permissionCheck({ callId, approval }: PermissionCheck): void {
    this.#withdraw(callId);
    if (approval?.state !== ApprovalState.PENDING) return;
    const withdrawn = new AbortController();
    this.#open.set(callId, withdrawn);
    this.#queue = this.#queue.then(() => this.#ask(approval, withdrawn.signal));
  }

  /** The log has a mark where the arguments hold a secret; who approves is shown what will run, and policy has it. */
  async #withRealArguments(approval: Approval): Promise<Approval | undefined> {
    if (approval.argumentsHash === "" || sha256Hex(approval.argumentsJson) === approval.argumentsHash) return approval;
    try {
      const { approvals } = await this.#policy.listApprovals({ sessionId: approval.sessionId });
      return approvals.find(({ approvalId }) => approvalId === approval.approvalId);
    } catch (thrown) {
      this.#screen.note(`What is to be approved could not be read: ${fromConnectError(thrown).message}`, "bad");
      return undefined;
    }
  }

  #withdraw(callId: string): void {
    this.#open.get(callId)?.abort();
    this.#open.delete(callId);
  }

  async #ask(logged: Approval, withdrawn: AbortSignal): Promise<void> {
    const approval = await this.#withRealArguments(logged);
    if (approval === undefined) return;
    // Most runs ask nothing, and what finds differences takes long to load.
    const { approvalLines } = await import("./approval-lines.ts");
    const { tool, argumentsJson, reason } = approval;
    const safetyLevel = enumWord(SafetyLevelSchema, approval.safetyLevel).toUpperCase();
    let asked = false;
    const put = (): void => {
      asked = true;
      this.#screen.status("");
      const look = (path: string) => presentFile(this.#workspace, path);
      for (const line of approvalLines({ tool, argumentsJson, reason, safetyLevel, look })) this.#screen.note(line.text, line.tone);
      this.#screen.note(`Allow it? ${QUESTION}`, "warning");
    };
    const key = await readKey(this.#keyboard, Object.keys(ANSWERS), withdrawn, put, this.#onControlC);
    const chosen = key === undefined ? undefined : ANSWERS[key];
    if (!asked) return;
    if (chosen === undefined)
      return this.#screen.note("The question is closed: it was answered elsewhere, its time is over, or the run has stopped.", "dim");
    this.#screen.note(chosen.said, "dim");
    try {
      await this.#policy.answerApproval({ approvalId: approval.approvalId, answer: chosen.answer });
    } catch (thrown) {
      this.#screen.note(`The answer was not taken: ${fromConnectError(thrown).message}`, "bad");
    }
  }
}
