import type { Owner } from "../receipts.ts";
import type { WorkspaceFolder } from "../workspace-folder.ts";
import type { SessionHolder } from "./session-moved.ts";

/** Where a session is, or was last. */
export interface Placement {
  readonly owner: Owner;
  readonly replica: string;
  /** The folder that it works on, on that replica's machine. */
  readonly workspace: string;
  /** That is this replica, or was an earlier process of its name. */
  readonly isHere: boolean;
  /** Present while another replica holds it, and has a lease. */
  readonly holder?: SessionHolder;
  /** Some of its calls have their receipts where this replica cannot read them. */
  readonly hasReceiptsElsewhere: boolean;
}

export type Claim =
  | { readonly outcome: "mine"; readonly hasReceiptsElsewhere: boolean }
  | { readonly outcome: "elsewhere"; readonly holder: SessionHolder }
  /** It works on another folder. */
  | { readonly outcome: "bound"; readonly workspace: string }
  /** The folder of that path here is not the one of the machine that had the session. */
  | { readonly outcome: "unreachable"; readonly replica: string }
  /** `foreign`: another person's. `no_lease`: this replica has none any more. */
  | { readonly outcome: "foreign" | "no_lease" };

/** Which replica each session is on: one answer for all replicas. */
export interface PlacementStore {
  /** Makes it this replica's where nobody holds it, or nobody with a lease. */
  readonly claim: (owner: Owner, sessionId: string, workspace: WorkspaceFolder) => Promise<Claim>;
  readonly find: (sessionId: string) => Promise<Placement | undefined>;
  /** Forgets it, unless another replica holds it. */
  readonly remove: (owner: Owner, sessionId: string) => Promise<void>;
  /** The sessions that another replica holds, which has a lease. */
  readonly heldElsewhere: () => Promise<ReadonlySet<string>>;
  /** Forgets sessions without receipts, and those that nobody has used for longer than receipts are kept. */
  readonly forgetExpired: (withoutReceipts: readonly string[]) => Promise<void>;
}
