import { createClient, type Client, type Transport } from "@connectrpc/connect";
import { AuditService } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import type { Audit, Outcome } from "../../domain/loop/ports.ts";
import type { MeshCaller } from "./mesh-caller.ts";
import { meshError } from "./mesh-error.ts";

const DEADLINE_MILLISECONDS = 5_000;
/** In characters, as the contract has it. */
const SUMMARY_LENGTH = 2_000;

/** The audit log. */
export class MeshAudit implements Audit {
  readonly #client: Client<typeof AuditService>;
  readonly #caller: MeshCaller;

  constructor(transport: Transport, caller: MeshCaller) {
    this.#client = createClient(AuditService, transport);
    this.#caller = caller;
  }

  async recordOutcome(outcome: Outcome): Promise<void> {
    try {
      const summary = outcome.summary.slice(0, SUMMARY_LENGTH);
      await this.#client.recordOutcome({ ...outcome, summary }, this.#caller.options(DEADLINE_MILLISECONDS));
    } catch (thrown) {
      throw meshError(thrown);
    }
  }
}
