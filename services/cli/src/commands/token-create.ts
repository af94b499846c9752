import { createClient, type Transport } from "@connectrpc/connect";
import { TokenSchema, TokenScope, TokenService } from "@hlvm/proto/hlvm/identity/v1/identity_pb";
import type { tokenScopeWords } from "@hlvm/proto/hlvm/identity/v1/identity_words";
import { BudgetScope, SpendingService } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import type { BudgetFlags } from "../options/budget-flags.ts";
import { jsonLine } from "../output/json-line.ts";
import { localTime } from "../output/local-time.ts";
import { messageJson } from "@hlvm/ndjson/message-json";
import { limitsOf, periodOf } from "./budget-set.ts";

export type TokenScopeWord = (typeof tokenScopeWords)[number];

export interface TokenCreateFlags extends BudgetFlags {
  /** Of the budget. */
  readonly per?: "day" | "month";
  readonly scope: readonly TokenScopeWord[];
  readonly models?: string[];
  readonly days?: number;
  /** The service account that it is for. */
  readonly account?: string;
  readonly json?: boolean;
}

/** Makes a token. It alone goes to standard output, so that a script can take it. */
export async function tokenCreate(label: string, flags: TokenCreateFlags, context: CommandContext): Promise<number> {
  const scopes = flags.scope.map((word) => TokenScope[word.toUpperCase() as Uppercase<TokenScopeWord>]);
  const { models: allowedModels, days, account: serviceAccount } = flags;
  const { token, secret } = await withMesh(context, async (transport) => {
    const made = await createClient(TokenService, transport).createToken({ label, scopes, days, serviceAccount, allowedModels });
    await limit(transport, made.token!.tokenId, flags);
    return made;
  });
  if (flags.json === true) process.stdout.write(jsonLine({ ...messageJson(TokenSchema, token!), secret }));
  else {
    context.screen.note(
      `Valid until ${localTime(token!.expiresAt)}. It is shown this once: HLVM_TOKEN and HLVM_EDGE_URL make hlvm use it.`,
    );
    process.stdout.write(`${secret}\n`);
  }
  return EXIT_OK;
}

/** A token that should have been limited, and cannot be, is none. */
async function limit(transport: Transport, tokenId: string, flags: TokenCreateFlags): Promise<void> {
  const spending = createClient(SpendingService, transport);
  try {
    for (const [kind, amount] of limitsOf(flags))
      await spending.putBudget({ scope: BudgetScope.TOKEN, subject: tokenId, kind, period: periodOf(flags), limit: amount });
  } catch (cause) {
    await createClient(TokenService, transport).revokeToken({ tokenId });
    throw cause;
  }
}
