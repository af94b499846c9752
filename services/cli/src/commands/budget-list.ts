import { createClient } from "@connectrpc/connect";
import { dollarsText } from "@hlvm/ndjson/dollars-text";
import { enumWord } from "@hlvm/ndjson/enum-word";
import {
  BudgetKind,
  BudgetKindSchema,
  BudgetPeriod,
  BudgetPeriodSchema,
  BudgetSchema,
  BudgetScope,
  SpendingService,
  type Budget,
} from "@hlvm/proto/hlvm/session/v1/spending_pb";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { jsonLine } from "../output/json-line.ts";
import { messageJson } from "@hlvm/ndjson/message-json";
import { table } from "../output/table.ts";
import { shortDuration } from "../terminal/sizes.ts";

/** Budgets that the person may see, with how much of each is used. */
export async function budgetList(flags: { json?: boolean }, context: CommandContext): Promise<number> {
  const { budgets } = await withMesh(context, (transport) => createClient(SpendingService, transport).listBudgets({}));
  if (flags.json === true) for (const budget of budgets) process.stdout.write(jsonLine(messageJson(BudgetSchema, budget)));
  else if (budgets.length === 0) context.screen.note("No budget is set. Try: hlvm budget set user:NAME --max-cost 5 --per day");
  else process.stdout.write(table(["WHOSE", "OF", "PER", "LIMIT", "USED", "HELD"], budgets.map(budgetRow)));
  return EXIT_OK;
}

export function budgetRow(budget: Budget): string[] {
  const { kind, period, limit, used, reserved } = budget;
  const per = period === BudgetPeriod.NONE ? "" : enumWord(BudgetPeriodSchema, period);
  const [whole, gone, held] = [limit, used, reserved].map((amount) => amountText(kind, amount));
  return [ownerText(budget), enumWord(BudgetKindSchema, kind), per, whole!, gone!, held!];
}

function ownerText({ scope, subject }: Budget): string {
  if (scope === BudgetScope.ORGANIZATION) return "organization";
  if (scope === BudgetScope.TEAM) return `team:${subject}`;
  if (scope === BudgetScope.TOKEN) return `token:${subject}`;
  return scope === BudgetScope.SESSION ? `session:${subject}` : subject;
}

function amountText(kind: BudgetKind, amount: bigint): string {
  if (kind === BudgetKind.MONEY) return dollarsText(amount);
  return kind === BudgetKind.TIME ? shortDuration(Number(amount)) : String(amount);
}
