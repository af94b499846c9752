import { AuditService, type AuditField } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { useEffect } from "react";
import { useClient } from "../../api/use-client.ts";
import { useCall } from "../../api/use-call.ts";
import { Empty } from "../../parts/empty.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { countWord } from "../../parts/words.ts";
import table from "../../parts/table.module.css";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import { lineOf } from "./audit-question.ts";
import { requestOf } from "./audit-request.ts";
import type { AuditViewProps } from "./calls-view.tsx";
import { EventTime } from "./event-marks.tsx";
import { NARROWINGS, shownWord } from "./facets.tsx";
import { Histogram, spanWord } from "./histogram.tsx";
import styles from "./audit.module.css";

const TOP = 20;
const SPANS = 24;

/** How many events there are by every field and over time, as bars and as figures. */
export function CountsView({ question, onQuestion, onFound }: AuditViewProps) {
  const audit = useClient(AuditService);
  const by = Object.keys(NARROWINGS).map(Number) as AuditField[];
  const { value, trouble, again } = useCall(lineOf(question), (signal) =>
    audit.aggregate({ query: requestOf(question), by, top: TOP, buckets: SPANS }, { signal }),
  );
  const found = value === undefined ? "" : countWord(value.events, "event");
  useEffect(() => onFound(found), [found, onFound]);
  if (trouble !== undefined)
    return (
      <div className={styles.alone}>
        <TroubleNote trouble={trouble} onAgain={again} />
      </div>
    );
  if (value === undefined) return <Skeleton rows={8} />;
  if (value.events === 0n) return <Empty title="No event fits" />;
  const all = Number(value.events);
  return (
    <>
      <Histogram
        counts={value}
        onZoom={(since, until) => onQuestion({ ...question, since: since.toISOString(), until: until.toISOString() })}
      />
      <div className={styles.counts}>
        {value.facets.map(({ field, counts, otherEvents }) => {
          const { title, name, word } = NARROWINGS[field]!;
          const others = otherEvents === 0n ? [] : [{ value: "others", events: otherEvents }];
          return (
            <table key={field}>
              <caption>{title}</caption>
              <tbody>
                {[...counts, ...others].map(({ value: counted, events }) => (
                  <tr key={counted}>
                    <th scope="row">
                      {counted === "" || counted === "others" ? (
                        counted || "none"
                      ) : (
                        <button type="button" data-row onClick={() => onQuestion({ ...question, [name]: word(counted) }, "calls")}>
                          {shownWord(name, word(counted))}
                        </button>
                      )}
                    </th>
                    <td>
                      <span className={styles.bar} style={{ width: `${(Number(events) / all) * 100}%` }} />
                    </td>
                    <td>{events.toLocaleString()}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          );
        })}
        <table>
          <caption>Over time, {spanWord(value.bucketSeconds)} each</caption>
          <thead>
            <tr>
              {["From", "Events", "Allowed", "Asked", "Denied"].map((head) => (
                <th key={head} scope="col">
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {value.buckets
              .filter(({ events }) => events > 0n)
              .map(({ start, events, allowed, asked, denied }, at) => (
                <tr key={at}>
                  <th scope="row" className={table.nowrap}>
                    <EventTime at={start} />
                  </th>
                  {[events, allowed, asked, denied].map((count, column) => (
                    <td key={column}>{count.toLocaleString()}</td>
                  ))}
                </tr>
              ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
