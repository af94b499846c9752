import type { CallOptions } from "@connectrpc/connect";
import type { Principal } from "@hlvm/identity/principal";
import type { ServiceName } from "@hlvm/identity/service-name";
import type { TokenMinter } from "@hlvm/identity/token-minter";
import { outgoing } from "@hlvm/rpc/call-context";
import type { CallLimits } from "@hlvm/call-stream/open-stream";

/** For whom a run calls, and by what right. */
export interface RunCaller {
  readonly principal: Principal;
  /** What the edge signed for the run: without it no service believes that it calls for that person. */
  readonly delegation: string;
}

/** Calls one other service for a run: a run outlives the token that it was started with. */
export class MeshCaller {
  readonly #minter: TokenMinter;
  readonly #run: RunCaller;
  readonly #service: ServiceName;

  constructor(minter: TokenMinter, run: RunCaller, service: ServiceName) {
    this.#minter = minter;
    this.#run = run;
    this.#service = service;
  }

  get principal(): Principal {
    return this.#run.principal;
  }

  /** For whom it calls. */
  get principalId(): string {
    return this.#run.principal.id;
  }

  /** Limits of one call on a stream. */
  limits(timeoutMilliseconds: number, signal?: AbortSignal): CallLimits {
    const { principal, delegation } = this.#run;
    return { token: this.#minter.mint(principal, this.#service, delegation), timeoutMilliseconds, signal };
  }

  /** Options of one call: token, deadline, cancellation. */
  options(deadlineMilliseconds: number, signal?: AbortSignal): CallOptions {
    const { principal, delegation } = this.#run;
    const token = this.#minter.mint(principal, this.#service, delegation);
    return outgoing({ token, signal, remainingMilliseconds: () => deadlineMilliseconds });
  }
}

/** Options with which a stream of calls is opened: its calls have deadlines, and it has none. */
export function streamOptions(token: string, signal: AbortSignal): CallOptions {
  return outgoing({ token, signal, remainingMilliseconds: () => 0 });
}
