/** What a grant allows: one tool, with these very bytes, for this session and person, once, until it expires. */
export interface Grant {
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
