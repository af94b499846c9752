import { createClient, type Client, type Transport } from "@connectrpc/connect";
import { fromConnectError } from "@hlvm/connect-errors/from-connect-error";
import type { Principal } from "@hlvm/identity/principal";
import type { TokenMinter } from "@hlvm/identity/token-minter";
import { TeamResolverService } from "@hlvm/proto/hlvm/identity/v1/identity_pb";
import { outgoing } from "@hlvm/rpc/call-context";
import type { Teams } from "../domain/teams.ts";

const DEADLINE_MILLISECONDS = 5_000;

/** Teams as policy keeps them. */
export class PolicyTeams implements Teams {
  readonly #resolver: Client<typeof TeamResolverService>;
  readonly #minter: TokenMinter;

  constructor(policy: Transport, minter: TokenMinter) {
    this.#resolver = createClient(TeamResolverService, policy);
    this.#minter = minter;
  }

  async of({ organization, id }: Principal): Promise<readonly string[]> {
    const options = outgoing({ token: this.#minter.mintOwn("policy"), remainingMilliseconds: () => DEADLINE_MILLISECONDS });
    try {
      return (await this.#resolver.resolveTeams({ organization, principal: id }, options)).teams;
    } catch (cause) {
      throw fromConnectError(cause);
    }
  }
}
