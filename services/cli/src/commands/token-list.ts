import { createClient } from "@connectrpc/connect";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { TokenSchema, TokenScopeSchema, TokenService, type Token } from "@hlvm/proto/hlvm/identity/v1/identity_pb";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { jsonLine } from "../output/json-line.ts";
import { localTime } from "../output/local-time.ts";
import { messageJson } from "@hlvm/ndjson/message-json";
import { table } from "../output/table.ts";
import { printableLine } from "../terminal/printable.ts";

/** One's own tokens, the newest first. */
export async function tokenList(flags: { json?: boolean }, context: CommandContext): Promise<number> {
  const { tokens } = await withMesh(context, (transport) => createClient(TokenService, transport).listTokens({}));
  if (flags.json === true) for (const token of tokens) process.stdout.write(jsonLine(messageJson(TokenSchema, token)));
  else if (tokens.length === 0) context.screen.note("You have no tokens. A program gets one by: hlvm token create LABEL --scope read");
  else process.stdout.write(table(["ID", "LABEL", "MAY", "STATE", "LAST USED"], tokens.map(rowOf)));
  return EXIT_OK;
}

function rowOf(token: Token): string[] {
  const { tokenId, label, scopes, lastUsedAt } = token;
  return [
    tokenId,
    printableLine(label, 40),
    scopes.map((scope) => enumWord(TokenScopeSchema, scope)).join(","),
    stateOf(token),
    lastUsedAt === undefined ? "never" : localTime(lastUsedAt),
  ];
}

function stateOf({ expiresAt, revokedAt }: Token): string {
  if (revokedAt !== undefined) return `revoked ${localTime(revokedAt)}`;
  const isOver = expiresAt !== undefined && timestampDate(expiresAt) <= new Date();
  return `${isOver ? "expired" : "valid until"} ${localTime(expiresAt)}`;
}
