import type { Model } from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { Principal } from "@hlvm/identity/principal";
import type { PermissionSettings } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import type { Replay, WorkerBudget } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { RunBudget } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import type { RunPast } from "../fold/run-past.ts";
import type { Lease } from "../log/event-log.ts";
import type { EventPayload } from "../log/event-payload.ts";
import type { Mesh } from "../loop/ports.ts";
import type { Prefix } from "../prompt/compile-prefix.ts";
import type { RunSecrets } from "../secrets/run-secrets.ts";
import type { SessionFacts } from "../session/session.ts";
import type { RunAgent } from "../workers/run-agent.ts";

/** By what right a run acts. */
export interface RunAuthority {
  readonly principal: Principal;
  /** As the edge signed it, narrowed for this run where it was. */
  readonly delegation: string;
  readonly settings: PermissionSettings;
}

export interface BegunRun {
  readonly lease: Lease;
  readonly principal: string;
  /** Another one once a plan was accepted: workers get theirs from it. */
  authority: RunAuthority;
  readonly agent: RunAgent;
  /** Of a worker: what it may use up of its parent's. */
  readonly allowance?: WorkerBudget;
  readonly organization: string;
  /** Of the person, whose budgets count too. */
  readonly teams: readonly string[];
  readonly session: SessionFacts;
  readonly question: string;
  /** What it replays, where it does. */
  readonly replay?: Replay;
  /** What it may use, where it has a budget of its own. */
  readonly budget?: RunBudget;
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
