import { createClient } from "@connectrpc/connect";
import { BudgetKind, BudgetPeriod, BudgetSchema, BudgetScope, SpendingService } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import { EXIT_FAILED, EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import type { BudgetFlags } from "../options/budget-flags.ts";
import { wrongUsage } from "../options/wrong-usage.ts";
import { jsonLine } from "../output/json-line.ts";
import { messageJson } from "@hlvm/ndjson/message-json";
import { table } from "../output/table.ts";
import { budgetRow } from "./budget-list.ts";

interface Period {
  readonly per?: "day" | "month";
}

export interface BudgetSetFlags extends BudgetFlags, Period {
  readonly json?: boolean;
}

const SCOPES = { team: BudgetScope.TEAM, user: BudgetScope.USER, session: BudgetScope.SESSION, token: BudgetScope.TOKEN } as const;

/** Sets a budget of each kind that is given. */
export async function budgetSet(whose: string, flags: BudgetSetFlags, context: CommandContext): Promise<number> {
  const given = limitsOf(flags);
  if (given.length === 0)
    throw wrongUsage("Nothing says what the limit is.", "Give --max-cost, --max-tokens, --max-turns or --max-time, or several of them.");
  const budgets = await withMesh(context, async (transport) => {
    const spending = createClient(SpendingService, transport);
    const set = [];
    for (const [kind, limit] of given)
      set.push((await spending.putBudget({ ...ownerOf(whose), kind, period: periodOf(flags), limit })).budget!);
    return set;
  });
  if (flags.json === true) for (const budget of budgets) process.stdout.write(jsonLine(messageJson(BudgetSchema, budget)));
  else process.stdout.write(table(["WHOSE", "OF", "PER", "LIMIT", "USED", "HELD"], budgets.map(budgetRow)));
  return EXIT_OK;
}

/** Removes one. The exit code is 1 where there was none. */
export async function budgetRemove(
  whose: string,
  flags: Period & { readonly kind: string; readonly json?: boolean },
  context: CommandContext,
): Promise<number> {
  const kind = BudgetKind[flags.kind.toUpperCase() as keyof typeof BudgetKind];
  const { existed } = await withMesh(context, (transport) =>
    createClient(SpendingService, transport).putBudget({ ...ownerOf(whose), kind, period: periodOf(flags) }),
  );
  if (flags.json === true) process.stdout.write(jsonLine({ removed: existed }));
  else context.screen.note(existed ? "It is removed." : "There is no such budget; `hlvm budget list` shows those that there are.");
  return existed ? EXIT_OK : EXIT_FAILED;
}

/** What is limited, by kind. */
export function limitsOf({ maxCost, maxTokens, maxTurns, maxTime }: BudgetFlags): readonly (readonly [BudgetKind, bigint])[] {
  const limits = [
    [BudgetKind.MONEY, maxCost],
    [BudgetKind.TOKENS, maxTokens],
    [BudgetKind.TURNS, maxTurns],
    [BudgetKind.TIME, maxTime],
  ] as const;
  return limits.flatMap(([kind, limit]) => (limit === undefined ? [] : [[kind, limit] as const]));
}

export function periodOf({ per }: Period): BudgetPeriod {
  return per === undefined ? BudgetPeriod.NONE : per === "day" ? BudgetPeriod.DAY : BudgetPeriod.MONTH;
}

function ownerOf(whose: string): { scope: BudgetScope; subject: string } {
  if (whose === "organization") return { scope: BudgetScope.ORGANIZATION, subject: "" };
  const [word, ...rest] = whose.split(":");
  const scope = SCOPES[word as keyof typeof SCOPES];
  // A person is named with it everywhere.
  return { scope, subject: scope === BudgetScope.USER ? whose : rest.join(":") };
}
