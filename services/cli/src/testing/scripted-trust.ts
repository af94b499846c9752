import { createHash } from "node:crypto";
import type { ConnectRouter } from "@connectrpc/connect";
import { TrustService, type TrustedFile } from "@hlvm/proto/hlvm/trust/v1/trust_pb";

type Files = Pick<TrustedFile, "path" | "sha256" | "text">[];

/** What a workspace has of instructions, and what a person trusts of them, as an edge would tell. */
export class ScriptedTrust {
  /** Path → text, or `refused: ` and why. */
  files: Record<string, string> = {};
  /** Workspace → what is trusted of it. */
  readonly trusted = new Map<string, Files>();

  /** The answer to ReadInstructions. */
  found(workspace: string) {
    const files = Object.entries(this.files).map(([path, text]) => {
      const refusal = text.startsWith("refused: ") ? text.slice(9) : "";
      const sha256 = refusal === "" ? createHash("sha256").update(text).digest("hex") : "";
      return { file: { path, text: refusal === "" ? text : "", refusal }, sha256 };
    });
    return { workspace, files };
  }

  routes(router: ConnectRouter): void {
    router.service(TrustService, {
      addTrust: ({ workspace, files }) => {
        this.trusted.set(workspace, files);
        return { trusted: { workspace, files } };
      },
      listTrust: ({ workspace }) => {
        const all = [...this.trusted].map(([name, files]) => ({ workspace: name, files }));
        return { workspaces: workspace === "" ? all : all.filter((one) => one.workspace === workspace) };
      },
      removeTrust: ({ workspace }) => ({ removed: this.trusted.delete(workspace) }),
    });
  }
}
