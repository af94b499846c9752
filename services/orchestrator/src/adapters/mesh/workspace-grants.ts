import { createClient, type Client, type Transport } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import type { MeshCaller } from "./mesh-caller.ts";
import { meshError } from "./mesh-error.ts";

const DEADLINE_MILLISECONDS = 5_000;

/** Under whom the sandbox knows a session's workspace; undefined where the session is yet to be. */
export type WorkspaceOwnerOf = (sessionId: string) => Promise<string | undefined>;

/** By what a caller uses workspaces of others: what policy signed, asked for once a session. */
export class WorkspaceGrants {
  readonly #policy: Client<typeof PolicyService>;
  readonly #caller: MeshCaller;
  readonly #ownerOf: WorkspaceOwnerOf;
  readonly #known = new Map<string, Promise<string | undefined>>();

  constructor(policy: Transport, caller: MeshCaller, ownerOf: WorkspaceOwnerOf) {
    this.#policy = createClient(PolicyService, policy);
    this.#caller = caller;
    this.#ownerOf = ownerOf;
  }

  /** @returns undefined where none is needed @throws HlvmError `workspace_not_shared` */
  for(sessionId: string): Promise<string | undefined> {
    const known = this.#known.get(sessionId);
    if (known !== undefined) return known;
    const asked = this.#ask(sessionId);
    this.#known.set(sessionId, asked);
    asked.catch(() => this.#known.delete(sessionId));
    return asked;
  }

  async #ask(sessionId: string): Promise<string | undefined> {
    const owner = await this.#ownerOf(sessionId);
    if (owner === undefined || owner === this.#caller.principalId) return undefined;
    const { grant } = await this.#policy.grantWorkspace({ sessionId }, this.#caller.options(DEADLINE_MILLISECONDS)).catch((thrown) => {
      throw meshError(thrown);
    });
    if (grant !== "") return grant;
    throw new HlvmError({
      code: "permission_denied",
      reason: "workspace_not_shared",
      message: `The workspace of session ${sessionId} belongs to ${owner}, who has not shared it with you.`,
      advice: `Ask them to: \`hlvm session share ${sessionId} --with ${this.#caller.principalId} --right drive\`. Or fork it.`,
    });
  }
}
