import { HlvmError } from "@hlvm/errors/hlvm-error";

/** Which replica holds a session. */
export interface SessionHolder {
  /** The URL under which the other services reach it. */
  readonly address: string;
  /** Grows each time that another replica takes the session. */
  readonly epoch: bigint;
}

/** The session is another replica's, which is there: the call is for that one. */
export class SessionMoved extends HlvmError {
  readonly holder: SessionHolder;

  constructor(sessionId: string, holder: SessionHolder) {
    super({
      code: "failed_precondition",
      reason: "sandbox_moved",
      message: `The session ${sessionId} is on another replica of the sandbox service.`,
      advice: "Call the address in the error's detail, which says where it is.",
    });
    this.holder = holder;
  }
}
