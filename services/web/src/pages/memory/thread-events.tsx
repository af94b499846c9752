import { enumWord } from "@hlvm/ndjson/enum-word";
import { replacedFacts } from "@hlvm/ndjson/replaced-facts";
import { RecallKindSchema } from "@hlvm/proto/hlvm/memory/v1/stats_pb";
import type { ThreadEvent } from "@hlvm/proto/hlvm/memory/v1/thread_pb";
import { Brain, Check, Circle, type LucideIcon } from "lucide-react";
import { Fragment, type ReactNode } from "react";
import { Link } from "wouter";
import { Icon } from "../../parts/icon.tsx";
import { RelativeTime } from "../../parts/relative-time.tsx";
import { shownProse } from "../../parts/shown-text.ts";
import { personName } from "../../parts/words.ts";
import { changeIcon, changeWord } from "./change-marks.ts";
import memory from "./memory.module.css";
import styles from "./thread.module.css";

interface ThreadEventsProps {
  /** Latest first. */
  readonly events: readonly ThreadEvent[];
  readonly onOpen: (factId: string) => void;
}

/** What was done to facts, what sessions said, and where facts were shown and used. */
export function ThreadEvents({ events, onOpen }: ThreadEventsProps) {
  if (events.length === 0) return null;
  return (
    <section className={memory.history} aria-label="What happened">
      <h3>What happened</h3>
      <ol>
        {events.map((event, index) => (
          // Nothing of an event is its own but its place.
          <li key={index}>
            <Event event={event} onOpen={onOpen} />
          </li>
        ))}
      </ol>
    </section>
  );
}

function Event({ event: { at, event }, onOpen }: { readonly event: ThreadEvent } & Pick<ThreadEventsProps, "onOpen">) {
  const [icon, what, about] = partsOf(event, onOpen);
  return (
    <>
      <Icon of={icon} />
      <div>
        {what}
        <p>
          {about}
          <RelativeTime at={at} />
        </p>
      </div>
    </>
  );
}

function partsOf(event: ThreadEvent["event"], onOpen: (factId: string) => void): readonly [LucideIcon, ReactNode, ReactNode] {
  if (event.case === "change") {
    const { fact, principal } = event.value;
    const what = (
      <p>
        <strong>{changeWord(event.value)}</strong>{" "}
        {replacedFacts(event.value).map((old) => (
          <Fragment key={old.factId}>
            <s>{shownProse(old.text)}</s>{" "}
          </Fragment>
        ))}
        <button type="button" className={styles.fact} onClick={() => onOpen(fact?.factId ?? "")}>
          {shownProse(fact?.text ?? "")}
        </button>
      </p>
    );
    return [changeIcon(event.value), what, `by ${personName(principal) || "somebody"}, `];
  }
  if (event.case === "turn") {
    const { tool, session, title, turn } = event.value;
    const place = new URLSearchParams({ tool, session, turn: String(turn?.ordinal ?? 0) }).toString();
    return [
      Circle,
      <p key="">
        <strong>said</strong> {shownProse(turn?.text ?? "")}
      </p>,
      <Link key="" href={`/memory/sources?${place}`}>
        {tool}: {shownProse(title || session)}
      </Link>,
    ];
  }
  const isUsed = event.case === "used";
  const { kind = 0, sessionId = "", query = "", factIds = [] } = event.value ?? {};
  return [
    isUsed ? Check : Brain,
    <p key="">
      <strong>{isUsed ? "used in an answer" : `shown by ${enumWord(RecallKindSchema, kind)}`}</strong> {shownProse(query)}
    </p>,
    <>
      {factIds.length} {factIds.length === 1 ? "fact" : "facts"}
      {sessionId === "" ? null : (
        <>
          , <Link href={`/s/${sessionId}`}>session {sessionId.slice(0, 8)}</Link>
        </>
      )}
      ,{" "}
    </>,
  ];
}
