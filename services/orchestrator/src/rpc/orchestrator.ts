import type { Narrowing } from "@hlvm/identity/delegation-narrower";
import type { DelegationVerifier } from "@hlvm/identity/delegation-verifier";
import type { Principal } from "@hlvm/identity/principal";
import type { ContextLimits } from "../domain/context/token-budget.ts";
import type { EventLog } from "../domain/log/event-log.ts";
import type { LogWakeups } from "../domain/log/log-wakeups.ts";
import type { Mesh } from "../domain/loop/ports.ts";
import type { BegunRun } from "../domain/run/begun-run.ts";
import type { RunInboxes } from "../domain/run/run-inboxes.ts";
import type { RunRegistry } from "../domain/run/run-registry.ts";
import type { AttachedFiles } from "../domain/session/attached-files.ts";
import type { SessionStore } from "../domain/session/session-store.ts";

/** What the methods of the service work on. */
export interface Orchestrator {
  readonly store: SessionStore;
  readonly log: EventLog;
  readonly attached: AttachedFiles;
  readonly wakeups: LogWakeups;
  readonly runs: RunRegistry;
  readonly inboxes: RunInboxes;
  readonly contextLimits: ContextLimits;
  /** Reads what the edge signed for a run. */
  readonly delegations: DelegationVerifier;
  /** The other services, called for a run. */
  readonly mesh: (run: { readonly principal: Principal; readonly delegation: string }) => Mesh;
  readonly narrow: (delegation: string, narrowing: Narrowing) => string;
  readonly execute: (run: BegunRun, controller: AbortController) => Promise<void>;
  /** Aborted, with an error for the watchers, when the process ends. */
  readonly closing: AbortSignal;
}
