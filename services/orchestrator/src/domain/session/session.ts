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
  /** Set where it is the session of a worker. */
  readonly worker?: WorkerFacts;
}

/** Whose worker a session's run is. */
export interface WorkerFacts {
  readonly parentSessionId: string;
  readonly parentRunId: string;
  /** The session whose workspace and sandbox it works in: that of the run above it which is no worker. */
  readonly workspaceSessionId: string;
  /** 1: its parent is no worker. */
  readonly depth: number;
  /** The name of its profile. */
  readonly agentType: string;
}

/** By which id sandbox, policy and audit know a session's workspace and calls. */
export function workspaceSessionOf({ sessionId, worker }: Pick<SessionFacts, "sessionId" | "worker">): string {
  return worker?.workspaceSessionId ?? sessionId;
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
