import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { csvLine } from "@hlvm/ndjson/csv-line";
import { SpendingService, UsageDimension, type UsageRow } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import { useMemo } from "react";
import { Link, useLocation, useSearchParams } from "wouter";
import { useClient } from "../../api/use-client.ts";
import { useCall } from "../../api/use-call.ts";
import { Button } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import parts from "../../parts/parts.module.css";
import { saveAs } from "../../parts/save-as.ts";
import { Skeleton } from "../../parts/skeleton.tsx";
import table from "../../parts/table.module.css";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import { costWord } from "../../parts/words.ts";
import { PageFrame } from "../../shell/page-frame.tsx";
import { BudgetBars } from "./budget-bars.tsx";
import { CacheBreaks } from "./cache-breaks.tsx";
import styles from "./cost.module.css";
import { SpendChart } from "./spend-chart.tsx";
import { spendOf } from "./spend.ts";

const RANGES = { day: 1, week: 7, month: 30 } as const;
type Range = keyof typeof RANGES;
const BY = {
  model: { dimension: UsageDimension.MODEL, title: "Model" },
  team: { dimension: UsageDimension.TEAM, title: "Team" },
  user: { dimension: UsageDimension.USER, title: "Person" },
  tool: { dimension: UsageDimension.TOOL, title: "Tool" },
  session: { dimension: UsageDimension.SESSION, title: "Session" },
} as const;
type By = keyof typeof BY;
const DEAREST = 5;
const DAY_MILLISECONDS = 86_400_000;

/** What models cost: by day, against budgets, and where caches broke. */
export function CostPage() {
  const client = useClient(SpendingService);
  const [, goTo] = useLocation();
  const [search, setSearch] = useSearchParams();
  const range = oneOf<Range>(RANGES, search.get("range"), "week");
  const by = oneOf<By>(BY, search.get("by"), "model");
  const days = RANGES[range];
  const today = new Date().toISOString().slice(0, 10);
  const until = useMemo(() => new Date(`${today}T00:00:00Z`), [today]);
  const since = useMemo(() => new Date(until.getTime() - (days - 1) * DAY_MILLISECONDS), [until, days]);
  const period = { since: timestampFromDate(since) };
  const { dimension, title } = BY[by];
  const found = useCall(`${range} ${by} ${today}`, (signal) =>
    client.queryUsage({ by: [UsageDimension.DAY, dimension], ...period }, { signal }),
  );
  const dearest = useCall(`${range} ${today}`, (signal) => client.queryUsage({ by: [UsageDimension.SESSION], ...period }, { signal }));
  const choose = (change: { readonly range?: Range; readonly by?: By }): void => setSearch({ range, by, ...change }, { replace: true });
  const nextBy = (): void => {
    const names = Object.keys(BY) as By[];
    choose({ by: names[(names.indexOf(by) + 1) % names.length]! });
  };
  const { value } = found;
  const open = by === "session" ? (name: string): void => goTo(`/s/${name}`) : undefined;
  return (
    <PageFrame title="Cost" command={`hlvm cost --by day,${by} --since ${days}d`}>
      <div className={table.form}>
        <fieldset className={styles.choice}>
          <legend className={parts.visuallyHidden}>Range</legend>
          {(Object.keys(RANGES) as Range[]).map((name) => (
            <Button
              key={name}
              aria-pressed={name === range}
              data-action={`The last ${name}`}
              data-key={name[0]}
              onClick={() => choose({ range: name })}
            >
              {name === "day" ? "Today" : name === "week" ? "7 days" : "30 days"}
            </Button>
          ))}
        </fieldset>
        <label>
          by{" "}
          <select className={table.input} value={by} onChange={(event) => choose({ by: event.target.value as By })}>
            {Object.entries(BY).map(([name, { title: word }]) => (
              <option key={name} value={name}>
                {word.toLowerCase()}
              </option>
            ))}
          </select>
        </label>
        <Button data-action="Group by the next" data-key="b" onClick={nextBy}>
          Group by the next
        </Button>
        <Button disabled={value === undefined || value.rows.length === 0} onClick={() => save(value!.rows, by)}>
          CSV
        </Button>
        {by === "team" ? <span className={table.quiet}>A call counts for every team of its person</span> : null}
        {value !== undefined && !value.ofEverybody ? <span className={table.quiet}>What you spent yourself</span> : null}
      </div>
      <TroubleNote trouble={found.trouble} onAgain={found.again} />
      {value === undefined ? (
        found.trouble === undefined ? (
          <Skeleton rows={6} />
        ) : null
      ) : value.rows.length === 0 ? (
        <Empty title="No model call yet" command="hlvm cost">
          <p>In this time nobody asked a model. Prices come from the model gateway's table; a model that has none costs “unknown”.</p>
        </Empty>
      ) : (
        <SpendChart spend={spendOf(value.rows, days, until)} title={title} onOpen={open} />
      )}
      {dearest.value === undefined || dearest.value.rows.length === 0 ? null : (
        <section className={styles.section} aria-labelledby="dearest">
          <h2 id="dearest">Dearest sessions</h2>
          <ol className={styles.latest}>
            {dearest.value.rows
              .filter(({ keys }) => keys[0] !== "")
              .slice(0, DEAREST)
              .map(({ keys: [sessionId], cost, calls }) => (
                <li key={sessionId}>
                  <Link href={`/s/${sessionId}`}>{sessionId!.slice(0, 8)}</Link> {costWord(cost) || "$0.00"}{" "}
                  <span className={parts.advice}>{calls.toLocaleString()} calls</span>
                </li>
              ))}
          </ol>
        </section>
      )}
      <BudgetBars />
      <CacheBreaks since={since} />
    </PageFrame>
  );
}

function oneOf<Name extends string>(known: Readonly<Record<Name, unknown>>, given: string | null, usual: Name): Name {
  return given !== null && Object.hasOwn(known, given) ? (given as Name) : usual;
}

/** The rows as a spreadsheet takes them, dollars with all of their digits. */
function save(rows: readonly UsageRow[], by: By): void {
  const head = [
    "day",
    by,
    "calls",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "cost_dollars",
    "unpriced_calls",
  ];
  const lines = rows.map(({ keys, calls, usage, cost }) => {
    const counts = [calls, usage?.inputTokens, usage?.outputTokens, usage?.cacheReadTokens, usage?.cacheWriteTokens];
    const dollars = (Number(cost?.nanoDollars ?? 0n) / 1e9).toFixed(9);
    return csvLine([...keys, ...counts.map((count) => String(count ?? 0n)), dollars, String(cost?.unpricedCalls ?? 0)]);
  });
  saveAs(`cost-by-${by}.csv`, new Blob([csvLine(head), ...lines], { type: "text/csv" }));
}
