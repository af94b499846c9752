import { HlvmError } from "@hlvm/errors/hlvm-error";
import { sessionNotFound, type Owner } from "../receipts.ts";
import type { WorkspaceFolder } from "../workspace-folder.ts";
import { leaseLost, type LeaseTerm } from "./lease-term.ts";
import type { Placement, PlacementStore } from "./placement-store.ts";
import type { ReplicaLease } from "./replica-lease.ts";
import { SessionMoved } from "./session-moved.ts";

/** What `LocalFolders` says of a folder that may be on the machine of another replica. */
const NOT_HERE = new Set(["workspace_not_found", "workspace_not_readable", "workspace_not_a_folder"]);

/** A session that this replica has claimed. */
export interface HeldSession {
  /** The claim is worth something in this term only. */
  readonly term: LeaseTerm;
  readonly hasReceiptsElsewhere: boolean;
}

/** Which sessions are this replica's, as far as a call has to know. */
export class Placements {
  readonly #store: PlacementStore;
  readonly #lease: Pick<ReplicaLease, "term">;

  constructor(store: PlacementStore, lease: Pick<ReplicaLease, "term">) {
    this.#store = store;
    this.#lease = lease;
  }

  /**
   * Makes the session this replica's.
   * @throws HlvmError `sandbox_moved`, `workspace_unreachable`, `workspace_already_bound`, `session_not_found`, `sandbox_lease_lost`
   */
  async claim(owner: Owner, sessionId: string, workspace: WorkspaceFolder): Promise<HeldSession> {
    const { term } = this.#lease;
    const claim = await this.#store.claim(owner, sessionId, workspace);
    switch (claim.outcome) {
      case "mine":
        term.require();
        return { term, hasReceiptsElsewhere: claim.hasReceiptsElsewhere };
      case "elsewhere":
        throw new SessionMoved(sessionId, claim.holder);
      case "bound":
        throw alreadyBound(sessionId, claim.workspace);
      case "unreachable":
        throw unreachable(sessionId, claim.replica, workspace.path);
      case "foreign":
        throw sessionNotFound(sessionId);
      case "no_lease":
        term.end();
        throw leaseLost();
    }
  }

  /**
   * Of a session that is not open here: where it was last, if it was anywhere.
   * @throws HlvmError `sandbox_moved` where another replica holds it, `session_not_found` where it is another person's, `sandbox_lease_lost`
   */
  async requireNotElsewhere(owner: Owner, sessionId: string): Promise<Placement | undefined> {
    const { term } = this.#lease;
    const placement = await this.#store.find(sessionId);
    term.require();
    if (placement === undefined) return undefined;
    if (placement.owner.organization !== owner.organization || placement.owner.id !== owner.id) throw sessionNotFound(sessionId);
    if (placement.holder !== undefined) throw new SessionMoved(sessionId, placement.holder);
    return placement;
  }

  /** Why a workspace cannot be opened: it may be the folder of another machine. */
  async explain(cause: unknown, owner: Owner, { sessionId, path }: { sessionId: string; path: string }): Promise<unknown> {
    if (!(cause instanceof HlvmError) || !NOT_HERE.has(cause.reason)) return cause;
    const placement = await this.requireNotElsewhere(owner, sessionId);
    return placement === undefined || placement.isHere ? cause : unreachable(sessionId, placement.replica, path, cause);
  }

  /** The session is closed. */
  forget(owner: Owner, sessionId: string): Promise<void> {
    return this.#store.remove(owner, sessionId);
  }
}

export function alreadyBound(sessionId: string, path: string): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "workspace_already_bound",
    message: `The session ${sessionId} works on ${path} and cannot change to another folder.`,
    advice: "Start a new session for the other folder.",
  });
}

function unreachable(sessionId: string, replica: string, path: string, cause?: unknown): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "workspace_unreachable",
    message: `The workspace ${path} of the session ${sessionId} was on the replica ${replica} of the sandbox service, which does not answer; the folder cannot be reached from here.`,
    advice: `Start ${replica} again, or start a new session on a folder that can be reached.`,
    cause,
  });
}
