import { Fragment, useEffect, useRef, useState } from "react";
import { enumWord } from "@hlvm/ndjson/enum-word";
import {
  SessionStatusSchema,
  SpeakerSchema,
  TranscriptService,
  type SessionLabels,
  type Turn,
} from "@hlvm/proto/hlvm/memory/v1/transcript_pb";
import { useCall } from "../../api/use-call.ts";
import { useClient } from "../../api/use-client.ts";
import { Button } from "../../parts/button.tsx";
import parts from "../../parts/parts.module.css";
import { RelativeTime } from "../../parts/relative-time.tsx";
import { shownProse } from "../../parts/shown-text.ts";
import { Skeleton } from "../../parts/skeleton.tsx";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import styles from "./sources.module.css";

const PAGE = 100;
/** Before the turn that a link names. */
const BEFORE = 3;

interface TranscriptTurnsProps {
  readonly tool: string;
  readonly session: string;
  /** The one that a citation names. */
  readonly turn: number;
  readonly onClose: () => void;
}

/** A session's turns from a little before the one that was asked for, page by page. */
export function TranscriptTurns({ tool, session, turn, onClose }: TranscriptTurnsProps) {
  const client = useClient(TranscriptService);
  const [from, setFrom] = useState(Math.max(0, turn - BEFORE));
  const { value, trouble, again } = useCall(`turns ${from}`, (signal) =>
    client.getTranscript({ tool, session, fromOrdinal: from, limit: PAGE }, { signal }),
  );
  const named = useRef<HTMLLIElement>(null);
  useEffect(() => {
    // What it gives, a promise in newer browsers, is no clean-up.
    named.current?.scrollIntoView({ block: "center" });
  }, [value]);
  if (value === undefined) return trouble === undefined ? <Skeleton rows={8} /> : <TroubleNote trouble={trouble} onAgain={again} />;
  const { title, folder, labels } = value.transcript!;
  return (
    <section className={styles.transcript} aria-label="Session">
      <header>
        <Button onClick={onClose}>All sessions</Button>
        <h2>{shownProse(title || "No title")}</h2>
        <small>
          {tool}
          {folder === "" ? "" : ` · ${shownProse(folder)}`}
        </small>
      </header>
      {labels === undefined ? null : <SaidOfSession labels={labels} />}
      {from === 0 ? null : <Button onClick={() => setFrom(Math.max(0, from - PAGE))}>Earlier turns</Button>}
      <ol>
        {value.turns.map((one) => (
          <li
            key={one.key}
            ref={one.ordinal === turn ? named : undefined}
            data-speaker={one.speaker}
            aria-current={one.ordinal === turn ? "true" : undefined}
          >
            <Said turn={one} />
          </li>
        ))}
      </ol>
      {value.nextOrdinal === 0 ? null : <Button onClick={() => setFrom(value.nextOrdinal)}>Later turns</Button>}
    </section>
  );
}

/** What a model says of it. */
function SaidOfSession({ labels }: { readonly labels: SessionLabels }) {
  const { label, summary, status, decisions, openQuestions, entities, model, labelledAt, isOutdated } = labels;
  const pairs: Readonly<Record<string, readonly string[]>> = {
    Summary: summary === "" ? [] : [summary],
    Decided: decisions,
    Open: openQuestions,
    Names: entities.length === 0 ? [] : [entities.join(", ")],
  };
  return (
    <section aria-label="What a model says of it">
      <p>
        <strong>{shownProse(label)}</strong> ({enumWord(SessionStatusSchema, status)}){" "}
        <small>
          {shownProse(model)}, <RelativeTime at={labelledAt} />
          {isOutdated ? "; the session went on since" : ""}
        </small>
      </p>
      <dl className={parts.pairs}>
        {Object.entries(pairs).flatMap(([name, lines]) =>
          lines.map((line) => (
            <Fragment key={`${name} ${line}`}>
              <dt>{name}</dt>
              <dd>{shownProse(line)}</dd>
            </Fragment>
          )),
        )}
      </dl>
    </section>
  );
}

function Said({ turn: { speaker, saidAt, text } }: { readonly turn: Turn }) {
  return (
    <>
      <small>
        {enumWord(SpeakerSchema, speaker)} {saidAt === undefined ? null : <RelativeTime at={saidAt} />}
      </small>
      <p>{shownProse(text)}</p>
    </>
  );
}
