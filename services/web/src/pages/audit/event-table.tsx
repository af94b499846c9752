import { enumWord } from "@hlvm/ndjson/enum-word";
import { AuditKind, AuditKindSchema, type AuditEvent } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { ChevronRight } from "lucide-react";
import { Fragment, useState } from "react";
import { Link } from "wouter";
import { shownCode } from "../../parts/shown-text.ts";
import table from "../../parts/table.module.css";
import { tellingText } from "../../parts/telling-text.ts";
import { personName } from "../../parts/words.ts";
import type { AuditQuestion } from "./audit-question.ts";
import { DecisionMark, EventTime, OutcomeMark } from "./event-marks.tsx";
import { OpenedEvent } from "./opened-event.tsx";
import styles from "./audit.module.css";

interface EventTableProps {
  readonly events: readonly AuditEvent[];
  /** What each event is, where they are of several kinds. */
  readonly hasKinds?: boolean;
  readonly label: string;
  readonly onQuestion: (question: AuditQuestion, view?: string) => void;
}

/** Events in rows, each of which opens to all that is on record about it. */
export function EventTable({ events, hasKinds = false, label, onQuestion }: EventTableProps) {
  const [opened, setOpened] = useState<bigint | undefined>(undefined);
  return (
    <div className={table.scrolls} tabIndex={0} role="region" aria-label={label}>
      <table className={`${table.table} ${styles.events}`}>
        <thead>
          <tr>
            <th scope="col">Time</th>
            {hasKinds ? <th scope="col">Event</th> : null}
            <th scope="col">Who</th>
            <th scope="col">Decision</th>
            <th scope="col" className={styles.rule}>
              Rule
            </th>
            <th scope="col">Outcome</th>
            <th scope="col">What</th>
            <th scope="col">Session</th>
          </tr>
        </thead>
        <tbody>
          {events.map((event) => {
            const isOpen = opened === event.id;
            return (
              <Fragment key={String(event.id)}>
                <tr data-chosen={isOpen}>
                  <td>
                    <button
                      type="button"
                      data-row
                      className={styles.opener}
                      aria-expanded={isOpen}
                      onClick={() => setOpened(isOpen ? undefined : event.id)}
                    >
                      <ChevronRight size={14} strokeWidth={1.5} aria-hidden="true" />
                      <EventTime at={event.at} />
                    </button>
                  </td>
                  {hasKinds ? <td className={table.nowrap}>{enumWord(AuditKindSchema, event.kind).replaceAll("_", " ")}</td> : null}
                  <td className={table.nowrap}>{personName(event.principal)}</td>
                  <td className={table.nowrap}>
                    <DecisionMark event={event} />
                  </td>
                  <td className={styles.rule} title={event.rule}>
                    {event.rule}
                  </td>
                  <td className={table.nowrap}>{hasKinds && event.kind === AuditKind.INTENT ? null : <OutcomeMark event={event} />}</td>
                  <td className={styles.target}>
                    <strong>{event.tool}</strong> <code>{shownCode(tellingText(event.argumentsJson) || event.query)}</code>
                  </td>
                  <td>{event.sessionId === "" ? null : <Link href={`/s/${event.sessionId}`}>{event.sessionId.slice(0, 8)}</Link>}</td>
                </tr>
                {isOpen ? (
                  <tr className={styles.openedRow}>
                    <td colSpan={hasKinds ? 8 : 7}>
                      <OpenedEvent event={event} onQuestion={onQuestion} />
                    </td>
                  </tr>
                ) : null}
              </Fragment>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
