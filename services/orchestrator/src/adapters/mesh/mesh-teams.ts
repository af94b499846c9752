import { createClient, type Client } from "@connectrpc/connect";
import type { TokenMinter } from "@hlvm/identity/token-minter";
import { TeamResolverService } from "@hlvm/proto/hlvm/identity/v1/identity_pb";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { retryInterceptor } from "@hlvm/transport/retry-interceptor";
import { traceClientInterceptor } from "@hlvm/telemetry/trace-interceptors";
import { outgoing } from "@hlvm/rpc/call-context";
import type { Teams } from "../../domain/sharing/grant-store.ts";
import { meshError } from "./mesh-error.ts";

const DEADLINE_MILLISECONDS = 5_000;
/** So long somebody who has left a team goes on to be let in. */
const REMEMBER_MILLISECONDS = 3_000;
const MOST_REMEMBERED = 10_000;

/** Teams as policy keeps them, asked for in this service's own name and remembered for a moment. */
export class MeshTeams implements Teams {
  readonly #client: Client<typeof TeamResolverService>;
  readonly #minter: TokenMinter;
  /** In the order in which they were asked for. */
  readonly #remembered = new Map<string, { readonly teams: Promise<readonly string[]>; readonly until: number }>();

  constructor(policyUrl: string, minter: TokenMinter) {
    this.#client = createClient(TeamResolverService, createMeshTransport(policyUrl, [traceClientInterceptor, retryInterceptor]));
    this.#minter = minter;
  }

  /** @throws HlvmError where policy cannot tell */
  of(organization: string, principalId: string): Promise<readonly string[]> {
    const name = JSON.stringify([organization, principalId]);
    const now = performance.now();
    const known = this.#remembered.get(name);
    if (known !== undefined && known.until > now) return known.teams;
    const teams = this.#ask(organization, principalId);
    teams.catch(() => this.#remembered.delete(name));
    this.#remembered.delete(name);
    this.#remembered.set(name, { teams, until: now + REMEMBER_MILLISECONDS });
    const [oldest] = this.#remembered.keys();
    if (this.#remembered.size > MOST_REMEMBERED) this.#remembered.delete(oldest!);
    return teams;
  }

  async #ask(organization: string, principal: string): Promise<readonly string[]> {
    const options = outgoing({ token: this.#minter.mintOwn("policy"), remainingMilliseconds: () => DEADLINE_MILLISECONDS });
    try {
      return (await this.#client.resolveTeams({ organization, principal }, options)).teams;
    } catch (thrown) {
      throw meshError(thrown);
    }
  }
}
