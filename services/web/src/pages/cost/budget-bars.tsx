import { enumWord } from "@hlvm/ndjson/enum-word";
import {
  BudgetKind,
  BudgetKindSchema,
  BudgetPeriod,
  BudgetPeriodSchema,
  BudgetScope,
  BudgetScopeSchema,
  SpendingService,
  type Budget,
} from "@hlvm/proto/hlvm/session/v1/spending_pb";
import { useClient } from "../../api/use-client.ts";
import { useAction, useCall } from "../../api/use-call.ts";
import { Button } from "../../parts/button.tsx";
import { shownProse } from "../../parts/shown-text.ts";
import { Skeleton } from "../../parts/skeleton.tsx";
import table from "../../parts/table.module.css";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import { secondsWord } from "../../parts/words.ts";
import styles from "./cost.module.css";
import { moneyWord } from "./spend.ts";

/** What may be spent, and how much of it is used or held for calls under way. */
export function BudgetBars() {
  const client = useClient(SpendingService);
  const { value, trouble, again } = useCall("budgets", (signal) => client.listBudgets({}, { signal }));
  return (
    <section className={styles.section} aria-labelledby="budgets">
      <h2 id="budgets">Budgets</h2>
      <TroubleNote trouble={trouble} onAgain={again} />
      {value === undefined ? (
        trouble === undefined ? (
          <Skeleton rows={2} />
        ) : null
      ) : value.budgets.length === 0 ? (
        <p className={styles.none}>
          Nothing limits what is spent. An administrator sets a budget: <code>hlvm budget set organization --max-cost 100 --per month</code>
        </p>
      ) : (
        <div className={table.scrolls} tabIndex={0} role="region" aria-label="Budgets">
          <table className={table.table}>
            <thead>
              <tr>
                <th scope="col">Whose</th>
                <th scope="col">Of what</th>
                <th scope="col" className={styles.wide}>
                  Used, and held for calls under way
                </th>
                <th scope="col" className={table.right}>
                  Limit
                </th>
                <th scope="col">Change</th>
              </tr>
            </thead>
            <tbody>
              {value.budgets.map((budget) => (
                <BudgetRow key={`${budget.scope} ${budget.subject} ${budget.kind} ${budget.period}`} budget={budget} onChanged={again} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function BudgetRow({ budget, onChanged }: { readonly budget: Budget; readonly onChanged: () => void }) {
  const client = useClient(SpendingService);
  const { scope, subject, kind, period, limit, used, reserved } = budget;
  const remove = useAction(async () => {
    if (!confirm(`Remove this budget of ${whose(budget)}? Nothing limits it then.`)) return;
    await client.putBudget({ scope, subject: scope === BudgetScope.ORGANIZATION ? "" : subject, kind, period });
    onChanged();
  });
  const share = (amount: bigint): number => (limit === 0n ? 100 : Math.min(100, (Number(amount) / Number(limit)) * 100));
  const isFull = used + reserved >= limit;
  const every = period === BudgetPeriod.NONE ? "" : ` a ${enumWord(BudgetPeriodSchema, period)}`;
  return (
    <tr>
      <td>{shownProse(whose(budget))}</td>
      <td className={table.nowrap}>
        {enumWord(BudgetKindSchema, kind)}
        {every}
      </td>
      <td>
        <div
          className={`${styles.budget} ${isFull ? styles.full : ""}`}
          role="meter"
          aria-label={`Used of ${whose(budget)}`}
          aria-valuemin={0}
          aria-valuemax={100}
          aria-valuenow={Math.round(share(used + reserved))}
          aria-valuetext={`${amountWord(kind, used)} used, ${amountWord(kind, reserved)} held, of ${amountWord(kind, limit)}`}
        >
          <span className={styles.used} style={{ width: `${share(used)}%` }} />
          <span className={styles.held} style={{ width: `${Math.min(100 - share(used), share(reserved))}%` }} />
        </div>
        <span className={table.quiet}>
          {amountWord(kind, used)}
          {reserved === 0n ? "" : `, ${amountWord(kind, reserved)} held`}
          {isFull ? ", used up" : ""}
        </span>
      </td>
      <td className={table.right}>{amountWord(kind, limit)}</td>
      <td>
        <Button onClick={() => remove.run()} disabled={remove.isBusy} aria-label={`Remove the budget of ${whose(budget)}`}>
          Remove
        </Button>
        <TroubleNote trouble={remove.trouble} />
      </td>
    </tr>
  );
}

function whose({ scope, subject }: Budget): string {
  const word = enumWord(BudgetScopeSchema, scope);
  return scope === BudgetScope.ORGANIZATION ? "the organization" : `${word} ${subject.replace(/^user:/, "")}`;
}

function amountWord(kind: BudgetKind, amount: bigint): string {
  if (kind === BudgetKind.MONEY) return moneyWord(amount);
  return kind === BudgetKind.TIME ? secondsWord(Number(amount)) : amount.toLocaleString();
}
