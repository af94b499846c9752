import { timestampDate, type Timestamp } from "@bufbuild/protobuf/wkt";
import type { Fact } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import type { ReactNode } from "react";
import { shownProse } from "../../parts/shown-text.ts";
import styles from "./memory.module.css";

const DAY = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", year: "numeric" });

interface ValidityBarsProps {
  readonly facts: readonly Fact[];
  /** Of the fact that is looked at; empty for none. */
  readonly factId: string;
  /** What stands behind when a fact held. */
  readonly more?: (fact: Fact) => ReactNode;
}

/** A bar for each text, from when it held until when, the latest first. */
export function ValidityBars({ facts, factId, more }: ValidityBarsProps) {
  const now = Date.now();
  const spans = facts
    .map((fact) => ({ fact, from: milliseconds(fact.validFrom, now), to: milliseconds(fact.validTo, now) }))
    .toSorted((one, other) => other.from - one.from);
  const first = Math.min(...spans.map(({ from }) => from));
  const share = (span: number): string => `${(100 * span) / Math.max(now - first, 1)}%`;
  return (
    <section className={styles.validity} aria-label="Through time">
      <h3>Through time</h3>
      {spans.map(({ fact, from, to }) => (
        <div key={fact.factId} data-ended={fact.validTo !== undefined}>
          <p aria-current={fact.factId === factId ? "true" : undefined}>{shownProse(fact.text)}</p>
          <div className={styles.bar} aria-hidden="true">
            <span style={{ left: share(from - first), width: share(to - from) }} />
          </div>
          <p>
            {fact.validTo === undefined ? `since ${DAY.format(from)}` : DAY.formatRange(from, to)}
            {more?.(fact)}
          </p>
        </div>
      ))}
    </section>
  );
}

function milliseconds(at: Timestamp | undefined, otherwise: number): number {
  return at === undefined ? otherwise : timestampDate(at).getTime();
}
