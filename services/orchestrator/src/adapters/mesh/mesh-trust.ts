import { createClient, type Client, type Transport } from "@connectrpc/connect";
import { TrustService, TrustState } from "@hlvm/proto/hlvm/trust/v1/trust_pb";
import type { TrustVerdict, WorkspaceFile, WorkspaceTrust } from "../../domain/instructions/workspace-trust.ts";
import type { MeshCaller } from "./mesh-caller.ts";
import { meshError } from "./mesh-error.ts";

const DEADLINE_MILLISECONDS = 5_000;

/** What a run's person trusts, as policy keeps it. */
export class MeshTrust implements WorkspaceTrust {
  readonly #client: Client<typeof TrustService>;
  readonly #caller: MeshCaller;

  constructor(transport: Transport, caller: MeshCaller) {
    this.#client = createClient(TrustService, transport);
    this.#caller = caller;
  }

  async check(workspace: string, files: readonly WorkspaceFile[], signal: AbortSignal): Promise<readonly TrustVerdict[]> {
    try {
      const asked = { workspace, files: files.map(({ path, sha256 }) => ({ path, sha256 })) };
      const { states } = await this.#client.checkTrust(asked, this.#caller.options(DEADLINE_MILLISECONDS, signal));
      return files.map((_, index) => verdictOf(states[index]));
    } catch (thrown) {
      throw meshError(thrown, signal);
    }
  }
}

/** What a newer policy may say besides is no trust. */
function verdictOf(state: TrustState | undefined): TrustVerdict {
  if (state === TrustState.TRUSTED) return "trusted";
  return state === TrustState.CHANGED ? "changed" : "untrusted";
}
