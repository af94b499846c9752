import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Queries } from "@hlvm/postgres/database";
import { BudgetScope, type Budget, type RunBudget } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import type { BudgetKey, BudgetStore, CallAmounts, CarvedAmounts, Reservation } from "../../domain/budget/budget-store.ts";
import type { Lease } from "../../domain/log/event-log.ts";
import { amountsByKind, budgetOf, reservationOf, type BudgetRow, type ReservedRow } from "./budget-rows.ts";

const COLUMNS = "scope, subject, kind, period, amount, CASE WHEN began < period_begin(period) THEN 0 ELSE used END AS used, reserved";
const RESERVE = "SELECT is_held, granted, is_refused, named FROM reserve_budgets($1, $2, $3, $4, $5)";
const CARVE = "SELECT carve_budget($1, $2, $3, $4) AS refused_by";
const LIST = `SELECT ${COLUMNS} FROM budget WHERE organization = $1 AND scope <> ${BudgetScope.RUN} AND ($2::text IS NULL OR scope = ${BudgetScope.ORGANIZATION}
    OR scope = ${BudgetScope.USER} AND subject = $2 OR scope = ${BudgetScope.SESSION} AND EXISTS (
      SELECT FROM session WHERE session.session_id = budget.session_id AND owner = $2))
  ORDER BY scope, subject, kind, period`;
/** What was used until then stays used: a budget that is raised is not begun anew. */
const PUT = `
  INSERT INTO budget (organization, scope, subject, kind, period, amount, session_id, began)
  VALUES ($1, $2, $3, $4, $5, $6, $7, period_begin($5::smallint))
  ON CONFLICT (organization, scope, subject, kind, period) DO UPDATE SET amount = excluded.amount
  RETURNING ${COLUMNS}, xmax <> 0 AS existed`;
const REMOVE =
  "DELETE FROM budget WHERE organization = $1 AND scope = $2 AND subject = $3 AND kind = $4 AND period = $5 RETURNING budget_id";
const ORGANIZATIONS = `SELECT DISTINCT organization FROM budget WHERE scope <> ${BudgetScope.RUN}`;
const INSERT_FOR_RUN = `
  INSERT INTO budget (organization, scope, subject, kind, period, session_id, amount, began)
  SELECT organization, ${BudgetScope.RUN}, $2::text, item.kind, 1, session_id, item.amount, '-infinity'
  FROM session, unnest($3::bigint[]) WITH ORDINALITY AS item (amount, kind)
  WHERE session_id = $1 AND item.amount IS NOT NULL`;

/** Gives a run that begins its own budget. Its time is watched by who holds it. */
export async function insertRunBudget(queries: Queries, { sessionId, runId }: Lease, budget: RunBudget): Promise<void> {
  await queries.query(INSERT_FOR_RUN, [sessionId, runId, amountsOf(budget)]);
}

/** Budgets in PostgreSQL; what has to be one step is one function there (0012_budgets.sql). */
export class PostgresBudgetStore implements BudgetStore {
  readonly #database: Queries;

  constructor(database: Queries) {
    this.#database = database;
  }

  async reserve(lease: Lease, teams: readonly string[], least: CallAmounts, most: CallAmounts): Promise<Reservation | Budget> {
    const values = [lease.runId, lease.owner, teams, ...amountsByKind(least, most)];
    const [row] = await this.#database.query<ReservedRow & { is_held: boolean }>(RESERVE, values, "reserve_budgets");
    if (row?.is_held !== true)
      throw new HlvmError({
        code: "failed_precondition",
        reason: "lease_lost",
        message: `Run ${lease.runId} is held by another process now.`,
      });
    return reservationOf(row);
  }

  async carve(parentRunId: string, childRunId: string, amounts: CarvedAmounts, shares = 1): Promise<Budget | undefined> {
    const values = [parentRunId, childRunId, amountsOf(amounts), shares];
    const [row] = await this.#database.query<{ refused_by: BudgetRow | null }>(CARVE, values);
    return row?.refused_by ? budgetOf(row.refused_by) : undefined;
  }

  async giveBack(childRunId: string): Promise<void> {
    await this.#database.query("SELECT close_budgets(ARRAY[$1::uuid])", [childRunId]);
  }

  async list(organization: string, principal?: string): Promise<Budget[]> {
    return (await this.#database.query<BudgetRow>(LIST, [organization, principal ?? null])).map(budgetOf);
  }

  async put(key: BudgetKey, limit: bigint, sessionId?: string): Promise<{ budget: Budget; existed: boolean }> {
    const values = [...valuesOf(key), limit.toString(), sessionId ?? null];
    const [row] = await this.#database.query<BudgetRow & { existed: boolean }>(PUT, values);
    return { budget: budgetOf(row!), existed: row!.existed };
  }

  async remove(key: BudgetKey): Promise<boolean> {
    return (await this.#database.query(REMOVE, valuesOf(key))).length > 0;
  }

  async organizationsWithBudgets(): Promise<ReadonlySet<string>> {
    const rows = await this.#database.query<{ organization: string }>(ORGANIZATIONS, [], "organizations_with_budgets");
    return new Set(rows.map(({ organization }) => organization));
  }
}

function valuesOf({ organization, scope, subject, kind, period }: BudgetKey): unknown[] {
  return [organization, scope, subject, kind, period];
}

function amountsOf({ tokens, nanoDollars, turns }: CarvedAmounts): (string | null)[] {
  return [tokens, nanoDollars, turns].map((amount) => amount?.toString() ?? null);
}
