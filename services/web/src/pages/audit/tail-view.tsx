import { AuditService, type AuditEvent } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { Radio } from "lucide-react";
import { useEffect, useState } from "react";
import { troubleOf, type Trouble } from "../../api/clients.ts";
import { useClient } from "../../api/use-client.ts";
import { Empty } from "../../parts/empty.tsx";
import { StateMark } from "../../parts/state-mark.tsx";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import { requestOf } from "./audit-request.ts";
import type { AuditViewProps } from "./calls-view.tsx";
import { EventTable } from "./event-table.tsx";
import styles from "./audit.module.css";

/** Those before are in the calls. */
const SHOWN = 200;
const AGAIN_MILLISECONDS = 2_000;

/** Events as they are recorded, the newest on top. */
export function TailView({ question, onQuestion, onFound }: AuditViewProps) {
  const audit = useClient(AuditService);
  const [events, setEvents] = useState<readonly AuditEvent[]>([]);
  const [trouble, setTrouble] = useState<Trouble | undefined>(undefined);
  useEffect(() => {
    const leaving = new AbortController();
    const query = { ...requestOf(question), since: undefined, until: undefined };
    let afterId = 0n;
    const follow = async (): Promise<void> => {
      try {
        // It ends by itself after some minutes, and goes on behind the last event.
        for await (const { events: fresh } of audit.tail({ query, afterId }, { signal: leaving.signal, timeoutMs: 0 })) {
          setTrouble(undefined);
          for (const { id } of fresh) afterId = id > afterId ? id : afterId;
          if (fresh.length > 0) setEvents((before) => merged(fresh, before));
        }
      } catch (thrown) {
        if (!leaving.signal.aborted) setTrouble(troubleOf(thrown));
      }
      if (!leaving.signal.aborted) timer = setTimeout(() => void follow(), AGAIN_MILLISECONDS);
    };
    let timer: ReturnType<typeof setTimeout> | undefined;
    void follow();
    return () => {
      leaving.abort();
      clearTimeout(timer);
    };
    // The view is made anew for another question.
  }, [audit]);
  useEffect(() => onFound(`${events.length} since you look`), [events, onFound]);
  return (
    <>
      <div className={styles.alone}>
        <StateMark tone="info" icon={Radio} isLive>
          Following what is recorded
        </StateMark>
        <TroubleNote trouble={trouble} />
      </div>
      {events.length === 0 ? (
        <Empty title="Nothing has been recorded since you look">
          <p>What fits the question appears here as it happens. Times in the question are not read.</p>
        </Empty>
      ) : (
        <EventTable hasKinds events={events} label="Events as they come" onQuestion={onQuestion} />
      )}
    </>
  );
}

/** Newest first, each once: what is committed late may come behind a greater id. */
function merged(fresh: readonly AuditEvent[], before: readonly AuditEvent[]): readonly AuditEvent[] {
  const known = new Set(before.map(({ id }) => id));
  return [...fresh.filter(({ id }) => !known.has(id)), ...before].toSorted((one, other) => Number(other.id - one.id)).slice(0, SHOWN);
}
