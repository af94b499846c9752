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

const NONE = "You have no tokens. A program gets one by: hlvm token create LABEL --scope read";
const NO_ACCOUNTS = "There is no service account. One is there with its first token: hlvm token create LABEL --account NAME";

/** One's own tokens, or those of service accounts, the newest first. */
export async function tokenList(flags: { accounts?: boolean; json?: boolean }, context: CommandContext): Promise<number> {
  const { tokens } = await withMesh(context, (transport) =>
    createClient(TokenService, transport).listTokens({ serviceAccounts: flags.accounts }),
  );
  if (flags.json === true) for (const token of tokens) process.stdout.write(jsonLine(messageJson(TokenSchema, token)));
  else if (tokens.length === 0) context.screen.note(flags.accounts === true ? NO_ACCOUNTS : NONE);
  else process.stdout.write(table(["ID", "OWNER", "LABEL", "MAY", "MODELS", "STATE", "LAST USED"], tokens.map(rowOf)));
  return EXIT_OK;
}

function rowOf(token: Token): string[] {
  const { tokenId, owner, label, scopes, allowedModels, lastUsedAt } = token;
  return [
    tokenId,
    owner,
    printableLine(label, 40),
    scopes.map((scope) => enumWord(TokenScopeSchema, scope)).join(","),
    allowedModels.length === 0 ? "all" : printableLine(allowedModels.join(","), 60),
    stateOf(token),
    lastUsedAt === undefined ? "never" : localTime(lastUsedAt),
  ];
}

function stateOf({ expiresAt, revokedAt }: Token): string {
  if (revokedAt !== undefined) return `revoked ${localTime(revokedAt)}`;
  const isOver = expiresAt !== undefined && timestampDate(expiresAt) <= new Date();
  return `${isOver ? "expired" : "valid until"} ${localTime(expiresAt)}`;
}
