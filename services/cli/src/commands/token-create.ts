import { createClient } from "@connectrpc/connect";
import { TokenSchema, TokenScope, TokenService } from "@hlvm/proto/hlvm/identity/v1/identity_pb";
import type { tokenScopeWords } from "@hlvm/proto/hlvm/identity/v1/identity_words";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { jsonLine } from "../output/json-line.ts";
import { localTime } from "../output/local-time.ts";
import { messageJson } from "@hlvm/ndjson/message-json";

export type TokenScopeWord = (typeof tokenScopeWords)[number];

export interface TokenCreateFlags {
  readonly scope: readonly TokenScopeWord[];
  readonly days?: number;
  /** The service account that it is for. */
  readonly account?: string;
  readonly json?: boolean;
}

/** Makes a token. It alone goes to standard output, so that a script can take it. */
export async function tokenCreate(label: string, flags: TokenCreateFlags, context: CommandContext): Promise<number> {
  const scopes = flags.scope.map((word) => TokenScope[word.toUpperCase() as Uppercase<TokenScopeWord>]);
  const { token, secret } = await withMesh(context, (transport) =>
    createClient(TokenService, transport).createToken({ label, scopes, days: flags.days, serviceAccount: flags.account }),
  );
  if (flags.json === true) process.stdout.write(jsonLine({ ...messageJson(TokenSchema, token!), secret }));
  else {
    context.screen.note(
      `Valid until ${localTime(token!.expiresAt)}. It is shown this once: HLVM_TOKEN and HLVM_EDGE_URL make hlvm use it.`,
    );
    process.stdout.write(`${secret}\n`);
  }
  return EXIT_OK;
}
