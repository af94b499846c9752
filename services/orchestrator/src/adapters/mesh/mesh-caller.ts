import type { CallOptions } from "@connectrpc/connect";
import type { Principal } from "@hlvm/identity/principal";
import type { TokenMinter } from "@hlvm/identity/token-minter";
import { outgoing } from "@hlvm/rpc/call-context";

/** Calls other services in the name of one principal: a run outlives the token that it was started with. */
export class MeshCaller {
  readonly #minter: TokenMinter;
  readonly #principal: Principal;
  readonly #traceId: string;

  constructor(minter: TokenMinter, principal: Principal, traceId: string) {
    this.#minter = minter;
    this.#principal = principal;
    this.#traceId = traceId;
  }

  /** Options of one call: token, trace, deadline, cancellation. */
  async options(deadlineMilliseconds: number, signal?: AbortSignal): Promise<CallOptions> {
    return outgoing({
      principal: this.#principal,
      token: await this.#minter.mint(this.#principal),
      traceId: this.#traceId,
      signal,
      remainingMilliseconds: () => deadlineMilliseconds,
    });
  }
}
