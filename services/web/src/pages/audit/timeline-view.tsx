import { AuditService } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { useEffect } from "react";
import { useClient } from "../../api/use-client.ts";
import { useCall } from "../../api/use-call.ts";
import { Empty } from "../../parts/empty.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import { countWord } from "../../parts/words.ts";
import { useLists } from "../../store/list-store.ts";
import { usePage } from "../../store/page-context.ts";
import type { AuditViewProps } from "./calls-view.tsx";
import { EventTable } from "./event-table.tsx";
import styles from "./audit.module.css";

const SHOWN = 1_000;

interface TimelineViewProps extends Pick<AuditViewProps, "onQuestion" | "onFound"> {
  readonly sessionId: string | undefined;
}

/** All that is on record about one session, oldest first: what was asked for, who answered, what came of it. */
export function TimelineView({ sessionId, onQuestion, onFound }: TimelineViewProps) {
  const audit = useClient(AuditService);
  const { value, trouble, again } = useCall(sessionId ?? "", async (signal) =>
    sessionId === undefined ? undefined : await audit.sessionTimeline({ sessionId, limit: SHOWN }, { signal }),
  );
  const found = value === undefined ? "" : `${value.nextAfterId === 0n ? "" : "the first "}${countWord(value.events.length, "event")}`;
  useEffect(() => onFound(found), [found, onFound]);
  if (sessionId === undefined) return <ChooseSession onQuestion={onQuestion} />;
  if (trouble !== undefined)
    return (
      <div className={styles.alone}>
        <TroubleNote trouble={trouble} onAgain={again} />
      </div>
    );
  if (value === undefined) return <Skeleton rows={8} />;
  if (value.events.length === 0) return <Empty title="Nothing is on record about that session" />;
  const runs = [...new Set(value.events.map(({ runId }) => runId))].filter((runId) => runId !== "");
  return (
    <>
      {runs.map((runId, at) => (
        <section key={runId} aria-label={`Run ${at + 1}`}>
          <h2 className={styles.run}>
            Run {at + 1} · <code>{runId.slice(0, 8)}</code>
          </h2>
          <EventTable
            hasKinds
            label={`Events of run ${at + 1}`}
            events={value.events.filter((event) => event.runId === runId)}
            onQuestion={onQuestion}
          />
        </section>
      ))}
      {value.events.some(({ runId }) => runId === "") ? (
        <section aria-label="Beside its runs">
          <h2 className={styles.run}>Beside its runs</h2>
          <EventTable
            hasKinds
            label="Events beside its runs"
            events={value.events.filter(({ runId }) => runId === "")}
            onQuestion={onQuestion}
          />
        </section>
      ) : null}
    </>
  );
}

function ChooseSession({ onQuestion }: Pick<AuditViewProps, "onQuestion">) {
  const { sessions } = useLists(usePage().lists);
  return (
    <Empty title="Which session?" command="hlvm audit timeline SESSION">
      <ul className={styles.choose}>
        {sessions?.slice(0, 12).map(({ sessionId, title }) => (
          <li key={sessionId}>
            <button type="button" data-row onClick={() => onQuestion({ session: sessionId }, "timeline")}>
              {title || sessionId.slice(0, 8)}
            </button>
          </li>
        ))}
      </ul>
    </Empty>
  );
}
