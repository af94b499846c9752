import { createClient } from "@connectrpc/connect";
import { TrustedWorkspaceSchema, TrustService } from "@hlvm/proto/hlvm/trust/v1/trust_pb";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { jsonLine } from "../output/json-line.ts";
import { localTime } from "../output/local-time.ts";
import { messageJson } from "@hlvm/ndjson/message-json";
import { table } from "../output/table.ts";
import { printableLine } from "../terminal/printable.ts";

/** The workspaces whose instructions this person trusts, the latest first. */
export async function trustList(flags: { json?: boolean }, context: CommandContext): Promise<number> {
  const { workspaces } = await withMesh(context, (transport) => createClient(TrustService, transport).listTrust({}));
  if (flags.json === true) {
    for (const one of workspaces) process.stdout.write(jsonLine(messageJson(TrustedWorkspaceSchema, one)));
    return EXIT_OK;
  }
  if (workspaces.length === 0) context.screen.note("You trust no workspace's instructions. `hlvm trust add FOLDER` shows them and asks.");
  else {
    const rows = workspaces.map(({ workspace, files, trustedAt }) => [
      printableLine(workspace),
      localTime(trustedAt),
      printableLine(files.map(({ path }) => path).join(", ")),
    ]);
    process.stdout.write(table(["WORKSPACE", "SINCE", "FILES"], rows));
  }
  return EXIT_OK;
}
