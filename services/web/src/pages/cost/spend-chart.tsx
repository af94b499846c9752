import parts from "../../parts/parts.module.css";
import { shownProse } from "../../parts/shown-text.ts";
import table from "../../parts/table.module.css";
import { countWord } from "../../parts/words.ts";
import styles from "./cost.module.css";
import { moneyWord, type Spend } from "./spend.ts";

const HEIGHT = 120;
const BAR_WIDTH = 0.8;

interface SpendChartProps {
  readonly spend: Spend;
  /** What the series are, as the table's head has it. */
  readonly title: string;
  readonly onOpen?: ((name: string) => void) | undefined;
}

/** What was spent day by day as stacked bars, and the same as a table. */
export function SpendChart({ spend: { days, series, costs }, title, onOpen }: SpendChartProps) {
  const totals = days.map((_, day) => costs.reduce((sum, one) => sum + one[day]!, 0));
  const most = Math.max(1, ...totals);
  return (
    <>
      <figure className={styles.chart}>
        <figcaption className={styles.caption}>
          {countWord(days.length, "day")}, at most {moneyWord(Math.max(...totals))} a day; days are those of UTC
        </figcaption>
        <svg
          viewBox={`0 0 ${days.length} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label="What was spent by day; the table below has the sums"
        >
          {days.map((day, at) => {
            let top = HEIGHT;
            return series.map(({ name }, index) => {
              const cost = costs[index]![at]!;
              if (cost === 0) return null;
              const height = Math.max(1, (cost / most) * HEIGHT);
              top -= height;
              return (
                <rect
                  key={name}
                  className={styles[`series${index + 1}`]}
                  x={at + (1 - BAR_WIDTH) / 2}
                  y={top}
                  width={BAR_WIDTH}
                  height={height}
                >
                  <title>{`${day}, ${name}: ${moneyWord(cost)}`}</title>
                </rect>
              );
            });
          })}
        </svg>
        <p className={styles.dates} aria-hidden="true">
          <span>{days[0]}</span>
          <span>{days.at(-1)}</span>
        </p>
      </figure>
      <div className={table.scrolls} tabIndex={0} role="region" aria-label={`Spend by ${title.toLowerCase()}`}>
        <table className={table.table}>
          <thead>
            <tr>
              <th scope="col">{title}</th>
              <th scope="col" className={table.right}>
                Cost
              </th>
              <th scope="col" className={table.right}>
                Calls
              </th>
              <th scope="col" className={table.right}>
                Tokens
              </th>
              <th scope="col">Note</th>
            </tr>
          </thead>
          <tbody>
            {series.map(({ name, nanoDollars, unpricedCalls, estimatedCalls, calls, tokens, isRest }, index) => (
              <tr key={name}>
                <td>
                  <span className={`${styles.mark} ${styles[`series${index + 1}`]}`} aria-hidden="true" />
                  {onOpen === undefined || isRest ? (
                    shownProse(name)
                  ) : (
                    <button type="button" data-row onClick={() => onOpen(name)}>
                      {shownProse(name)}
                    </button>
                  )}
                </td>
                <td className={table.right}>{moneyWord(nanoDollars, unpricedCalls)}</td>
                <td className={table.right}>{calls.toLocaleString()}</td>
                <td className={table.right}>{tokens.toLocaleString()}</td>
                <td className={parts.advice}>
                  {[
                    unpricedCalls > 0 ? `${unpricedCalls.toLocaleString()} without a known price` : "",
                    estimatedCalls > 0 ? `${estimatedCalls.toLocaleString()} cut, estimated` : "",
                  ]
                    .filter((note) => note !== "")
                    .join(", ")}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
