import type { FactChange } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { Link } from "wouter";
import { Icon } from "../../parts/icon.tsx";
import { RelativeTime } from "../../parts/relative-time.tsx";
import { shownProse } from "../../parts/shown-text.ts";
import { personName } from "../../parts/words.ts";
import { changeIcon, changeWord } from "./change-marks.ts";
import { ValidityBars } from "./validity-bars.tsx";
import styles from "./memory.module.css";

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
      {texts.size > 1 ? <ValidityBars facts={[...texts.values()]} factId={factId} /> : null}
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
