/** Which sandbox a call runs in; what it may do there is held by mounts and by the runner, not by the call's text. */
export type SandboxProfile =
  /** The workspace and all else is read-only, the home is empty, and nothing that it starts outlives it. */
  | "read"
  /** May write below the workspace, but never to a protected path; the home is empty. */
  | "edit"
  /** May write below the workspace, and keeps a home for its session; a change of a protected path is put back and asked about. */
  | "open";

/** What the executor holds a call to. */
export interface Enforcement {
  /** As policy judged the call. */
  readonly level: "L0" | "L1" | "L2";
  readonly profile: SandboxProfile;
  /** The protected paths, relative to the workspace, that this one call may write: those that a person saw and allowed. */
  readonly protectedPaths: readonly string[];
  /** Set: the file that it writes has to be this one, which a person was shown; SHA-256 in hexadecimal, empty: there must be none. */
  readonly expectedSha256?: string;
  readonly network: "none";
  /** The longest that the call may take. */
  readonly timeoutMilliseconds: number;
}

/** What a grant allows: one tool, with these very bytes, for this session and person, once, until it expires. */
export interface Grant extends Enforcement {
  /** UUID; the executor remembers it until the grant expires. */
  readonly id: string;
  readonly organization: string;
  readonly principal: string;
  readonly sessionId: string;
  readonly runId: string;
  readonly callId: string;
  readonly tool: string;
  readonly definitionHash: string;
  readonly argumentsHash: string;
  readonly policyVersion: string;
  /** Seconds since 1970. */
  readonly expiresAt: number;
}
