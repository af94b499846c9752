import type { PermissionSettings } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import type { Principal } from "./principal.ts";

/** What a program was let do that calls a model through a model door. */
export interface ModelAccess {
  /** Of the access token that it called with; empty where a person's login did. */
  readonly tokenId: string;
  /** `provider/name`, `*` stands for whatever is there. Empty: all. */
  readonly allowedModels: readonly string[];
}

/** What a person let one run do in their name, as the edge signed it: a service that acts for them can show it and widen nothing. */
export interface Delegation {
  readonly principal: Principal;
  readonly sessionId: string;
  readonly runId: string;
  /** Exactly as the person set them; of a narrowed delegation those of the last link. */
  readonly settings: PermissionSettings;
  /** The settings before each narrowing, the person's own first: a call has to be allowed under all of them. */
  readonly within: readonly PermissionSettings[];
  /** How many runs are above this one. */
  readonly depth: number;
  /** The one service that may act on it. */
  readonly authorizedParty: string;
  /** Seconds since 1970. */
  readonly expiresAt: number;
  /** Of a call through a model door, which belongs to no run: its id stands for the run's and the session's. */
  readonly modelAccess?: ModelAccess;
}

/** The longest that a run may be set to take (`HLVM_RUN_SECONDS`): within it, nothing has to be delegated anew. */
export const DELEGATION_SECONDS = 24 * 60 * 60;

/** Between what the edge signed and the links that narrow it: no text in base64url has it. */
export const LINK_SEPARATOR = "~";

/** Links of one delegation: a run has two at most, its profile's and its parent's, and parents are few. */
export const MAXIMUM_LINKS = 12;
