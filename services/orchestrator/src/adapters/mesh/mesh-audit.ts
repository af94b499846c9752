import { createClient, type Client, type Transport } from "@connectrpc/connect";
import { AuditService } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import type { SessionGrant } from "@hlvm/proto/hlvm/session/v1/sharing_pb";
import type { Audit, BudgetAudit, Outcome, SharingAudit } from "../../domain/loop/ports.ts";
import type { CalledModel, ModelCallAudit } from "../../domain/door/door-models.ts";
import type { MeshCaller } from "./mesh-caller.ts";
import { meshError } from "./mesh-error.ts";
import { outcomeMessage } from "./outcome-message.ts";
import type { PolicyCalls } from "./policy-calls.ts";

const DEADLINE_MILLISECONDS = 5_000;

/** The audit log. */
export class MeshAudit implements Audit, BudgetAudit, SharingAudit, ModelCallAudit {
  readonly #client: Client<typeof AuditService>;
  readonly #calls: PolicyCalls;
  readonly #caller: MeshCaller;

  constructor(transport: Transport, calls: PolicyCalls, caller: MeshCaller) {
    this.#client = createClient(AuditService, transport);
    this.#calls = calls;
    this.#caller = caller;
  }

  async recordOutcome(outcome: Outcome): Promise<void> {
    try {
      await this.#calls.ask({ case: "recordOutcome", value: outcomeMessage(outcome) }, this.#caller.limits(DEADLINE_MILLISECONDS));
    } catch (thrown) {
      throw meshError(thrown);
    }
  }

  async recordSharing(grant: SessionGrant, removed: boolean): Promise<void> {
    try {
      await this.#client.recordSharing({ grant, removed }, this.#caller.options(DEADLINE_MILLISECONDS));
    } catch (thrown) {
      throw meshError(thrown);
    }
  }

  async recordHandOver(): Promise<void> {
    try {
      await this.#client.recordHandOver({}, this.#caller.options(DEADLINE_MILLISECONDS));
    } catch (thrown) {
      throw meshError(thrown);
    }
  }

  async recordBudgetChange(changeJson: string, ofOwnSession: boolean): Promise<void> {
    try {
      await this.#client.recordBudgetChange({ changeJson, ofOwnSession }, this.#caller.options(DEADLINE_MILLISECONDS));
    } catch (thrown) {
      throw meshError(thrown);
    }
  }

  async recordModelCall(called: CalledModel): Promise<void> {
    try {
      await this.#client.recordModelCall(called, this.#caller.options(DEADLINE_MILLISECONDS));
    } catch (thrown) {
      throw meshError(thrown);
    }
  }
}
