import type { StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";

/** What is the same for every run of a session. */
export interface SessionFacts {
  readonly sessionId: string;
  /** `user:NAME`. */
  readonly owner: string;
  readonly title: string;
  /** An absolute path with every symlink resolved. */
  readonly workspace: string;
  readonly gitRepository: boolean;
  /** When the session began; empty where there is none. */
  readonly gitBranch: string;
  /** Not listed, nothing recalled, deleted soon after its run. */
  readonly stateless: boolean;
  /** Of the marks that stand in the place of secrets. */
  readonly secretKey: Uint8Array;
}

/** A session as it is now. */
export interface Session extends SessionFacts {
  /** `provider/name`, of the last run. */
  readonly model: string;
  readonly lastSequence: number;
  /** Empty where no run is going on. */
  readonly runningRunId: string;
  /** Of the last run that ended. */
  readonly lastStopReason: StopReason;
  readonly archived: boolean;
  /** The session that it was forked from, which may be gone; empty where it was not. */
  readonly forkedFrom: string;
  readonly forkedAtSequence: number;
  readonly imported: boolean;
  /** Of all its model calls, in nano-dollars; those without a known price are counted apart. */
  readonly cost: { readonly nanoDollars: bigint; readonly unpricedCalls: number };
  readonly createdAt: Date;
  readonly updatedAt: Date;
}
