import { timestampDate, type Timestamp } from "@bufbuild/protobuf/wkt";
import type { Fact, FactChange } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { Link } from "wouter";
import { Icon } from "../../parts/icon.tsx";
import { RelativeTime } from "../../parts/relative-time.tsx";
import { shownProse } from "../../parts/shown-text.ts";
import { personName } from "../../parts/words.ts";
import { changeIcon, changeWord } from "./change-marks.ts";
import styles from "./memory.module.css";

const DAY = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", year: "numeric" });

interface FactHistoryProps {
  /** Latest first. */
  readonly changes: readonly FactChange[];
  readonly moreExist: boolean;
  /** Of the fact that is looked at. */
  readonly factId: string;
}

/** Which text held when, and what was done, by whom. */
export function FactHistory({ changes, moreExist, factId }: FactHistoryProps) {
  const texts = new Map(
    changes.flatMap(({ fact, others }) => [fact, ...others]).flatMap((fact) => (fact === undefined ? [] : [[fact.factId, fact]])),
  );
  return (
    <>
      {texts.size > 1 ? <Validity facts={[...texts.values()]} factId={factId} /> : null}
      <section className={styles.history} aria-label="History">
        <h3>History</h3>
        <ol>
          {changes.map((change) => (
            <li key={change.changeId}>
              <Icon of={changeIcon(change)} />
              <div>
                <p>
                  <strong>{changeWord(change)}</strong>
                  {change.fact?.factId === factId ? null : `: ${shownProse(change.fact?.text ?? "")}`}
                </p>
                <p>
                  by {personName(change.principal) || "somebody, before history was kept"}
                  {change.sessionId === "" ? null : (
                    <>
                      {change.callId === "" ? ", " : ", by a run in "}
                      <Link href={`/s/${change.sessionId}`}>session {change.sessionId.slice(0, 8)}</Link>
                    </>
                  )}
                  , <RelativeTime at={change.at} />
                </p>
              </div>
            </li>
          ))}
        </ol>
        {moreExist ? <p>There are earlier changes.</p> : null}
      </section>
    </>
  );
}

/** A bar for each text, from when it held until when. */
function Validity({ facts, factId }: { readonly facts: readonly Fact[]; readonly factId: string }) {
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
          <p>{fact.validTo === undefined ? `since ${DAY.format(from)}` : DAY.formatRange(from, to)}</p>
        </div>
      ))}
    </section>
  );
}

function milliseconds(at: Timestamp | undefined, otherwise: number): number {
  return at === undefined ? otherwise : timestampDate(at).getTime();
}
