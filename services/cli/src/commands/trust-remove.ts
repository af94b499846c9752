import { realpathSync } from "node:fs";
import { createClient } from "@connectrpc/connect";
import { TrustService } from "@hlvm/proto/hlvm/trust/v1/trust_pb";
import { EXIT_FAILED, EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { fromCurrentFolder } from "../options/from-current-folder.ts";
import { jsonLine } from "../output/json-line.ts";
import { printableLine } from "../terminal/printable.ts";

/** Of what is no folder here: a repository, or the copy of a folder. */
const NAME = /^(git|copy):/;

/** From the next run on nothing of this workspace instructs the agent. */
export async function trustRemove(given: string, flags: { json?: boolean }, context: CommandContext): Promise<number> {
  const workspace = NAME.test(given) ? given : resolved(given);
  const { removed } = await withMesh(context, (transport) => createClient(TrustService, transport).removeTrust({ workspace }));
  if (flags.json === true) process.stdout.write(jsonLine({ type: "trust_removed", workspace, removed }));
  else
    context.screen.note(
      removed
        ? `No longer trusted: ${printableLine(workspace)}. Runs that go on now keep what they have.`
        : `${printableLine(workspace)} was not trusted; \`hlvm trust list\` shows what is.`,
    );
  return removed ? EXIT_OK : EXIT_FAILED;
}

/** A folder that is gone can be trusted no more, too. */
function resolved(given: string): string {
  const path = fromCurrentFolder(given);
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
