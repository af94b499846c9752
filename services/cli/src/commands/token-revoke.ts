import { createClient } from "@connectrpc/connect";
import { TokenSchema, TokenService } from "@hlvm/proto/hlvm/identity/v1/identity_pb";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { jsonLine } from "../output/json-line.ts";
import { messageJson } from "@hlvm/ndjson/message-json";
import { printableLine } from "../terminal/printable.ts";

/** From then on nobody is let in with it. */
export async function tokenRevoke(tokenId: string, flags: { json?: boolean }, context: CommandContext): Promise<number> {
  const { token } = await withMesh(context, (transport) => createClient(TokenService, transport).revokeToken({ tokenId }));
  if (flags.json === true) process.stdout.write(jsonLine(messageJson(TokenSchema, token!)));
  else context.screen.note(`Revoked: ${printableLine(token!.label)}. What is open with it ends within some seconds.`);
  return EXIT_OK;
}
