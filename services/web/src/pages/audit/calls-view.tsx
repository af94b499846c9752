import { AuditService, type AuditEvent } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { useEffect, useState } from "react";
import { useClient } from "../../api/use-client.ts";
import { useAction, useCall } from "../../api/use-call.ts";
import { Button } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import { countWord } from "../../parts/words.ts";
import { flagsOf, lineOf, type AuditQuestion } from "./audit-question.ts";
import { requestOf } from "./audit-request.ts";
import { EventTable } from "./event-table.tsx";
import { FACETS, Facets } from "./facets.tsx";
import { Histogram } from "./histogram.tsx";
import styles from "./audit.module.css";

const PAGE = 100;
const TOP = 6;
const BARS = 60;

export interface AuditViewProps {
  readonly question: AuditQuestion;
  readonly onQuestion: (question: AuditQuestion, view?: string) => void;
  /** Says beside the question how much there is. */
  readonly onFound: (found: string) => void;
}

/** Calls in rows, beside them their counts, above them when they were. */
export function CallsView({ question, onQuestion, onFound }: AuditViewProps) {
  const audit = useClient(AuditService);
  const line = lineOf(question);
  const counts = useCall(line, async (signal) => {
    const started = performance.now();
    const response = await audit.aggregate({ query: requestOf(question), by: [...FACETS], top: TOP, buckets: BARS }, { signal });
    return { response, milliseconds: Math.round(performance.now() - started) };
  });
  const calls = useCall(line, async (signal) => ({ line, ...(await audit.query({ ...requestOf(question), limit: PAGE }, { signal })) }));
  const [older, setOlder] = useState<{ readonly line: string; readonly events: readonly AuditEvent[]; readonly next: bigint }>();
  const isOlder = older !== undefined && older.line === line;
  const next = isOlder ? older.next : (calls.value?.nextBeforeId ?? 0n);
  const more = useAction(async () => {
    const { events, nextBeforeId } = await audit.query({ ...requestOf(question), limit: PAGE, beforeId: next });
    setOlder({ line, events: [...(isOlder ? older.events : []), ...events], next: nextBeforeId });
  });
  const total = counts.value?.response.events;
  const found = counts.isLoading || total === undefined ? "" : `${countWord(total, "event")}, ${counts.value!.milliseconds} ms`;
  useEffect(() => onFound(found), [found, onFound]);
  const events = [...(calls.value?.events ?? []), ...(isOlder ? older.events : [])];
  const zoom = (since: Date, until: Date): void => onQuestion({ ...question, since: since.toISOString(), until: until.toISOString() });
  if (calls.trouble !== undefined && calls.value === undefined)
    return (
      <div className={styles.alone}>
        <TroubleNote trouble={calls.trouble} onAgain={calls.again} />
      </div>
    );
  return (
    <div className={styles.calls} aria-busy={calls.isLoading}>
      <Facets counts={counts.value?.response} question={question} onQuestion={onQuestion} />
      <div className={styles.rows}>
        <TroubleNote trouble={counts.trouble ?? calls.trouble} onAgain={counts.trouble === undefined ? calls.again : counts.again} />
        {counts.value === undefined ? null : <Histogram counts={counts.value.response} onZoom={zoom} />}
        {calls.value === undefined ? (
          <Skeleton rows={8} />
        ) : events.length === 0 ? (
          <Nothing question={question} onQuestion={onQuestion} />
        ) : (
          <EventTable events={events} label="Calls" hasKinds={question.kind !== undefined} onQuestion={onQuestion} />
        )}
        <TroubleNote trouble={more.trouble} />
        {next === 0n ? null : (
          <p className={styles.more}>
            <Button disabled={more.isBusy} onClick={() => more.run()}>
              Show {PAGE} older ones
            </Button>
          </p>
        )}
      </div>
    </div>
  );
}

/** The nearest questions that may find something: each without one of the filters. */
function Nothing({ question, onQuestion }: Pick<AuditViewProps, "question" | "onQuestion">) {
  const names = (Object.keys(question) as (keyof AuditQuestion)[]).filter((name) => question[name] !== undefined && name !== "since");
  return (
    <Empty title="No call fits" command={`hlvm audit query${flagsOf(question)}`}>
      <div className={styles.bounds}>
        {names.map((name) => (
          <Button key={name} onClick={() => onQuestion({ ...question, [name]: undefined })}>
            Without {name}
          </Button>
        ))}
        {question.since === undefined || question.since === "30d" ? null : (
          <Button onClick={() => onQuestion({ ...question, since: "30d", until: undefined })}>Last 30d</Button>
        )}
      </div>
    </Empty>
  );
}
