import { enumWord } from "@hlvm/ndjson/enum-word";
import { EntityKindSchema, ThreadService, type Entity, type GetThreadResponse } from "@hlvm/proto/hlvm/memory/v1/thread_pb";
import { useDeferredValue } from "react";
import { Link } from "wouter";
import { useClient } from "../../api/use-client.ts";
import { Button } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { shownProse } from "../../parts/shown-text.ts";
import { Skeleton } from "../../parts/skeleton.tsx";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import type { MemoryViewProps } from "./memory-page.tsx";
import { ThreadEvents } from "./thread-events.tsx";
import { threadPath } from "./thread-path.ts";
import { usePages } from "./use-pages.ts";
import { ValidityBars } from "./validity-bars.tsx";
import styles from "./thread.module.css";

const PAGE = 50;

/** One entity, fact or session through time. */
export function ThreadView({ query, project, version, opened, onOpen }: MemoryViewProps) {
  const client = useClient(ThreadService);
  const name = useDeferredValue(query.trim());
  const pages = usePages(`${name}\n${project}\n${version}`, async (pageToken, signal) => {
    if (name === "") return { items: [], next: "" };
    const thread = await client.getThread({ name, project, limit: PAGE, pageToken }, { signal });
    return { items: [thread], next: thread.nextPageToken };
  });
  const { items, trouble, again } = pages;
  const [thread] = items ?? [];
  if (items === undefined) return trouble === undefined ? <Skeleton rows={8} /> : <TroubleNote trouble={trouble} onAgain={again} />;
  if (thread === undefined)
    return (
      <Empty title="Follow one thing through time" command="hlvm memory thread NAME">
        <p>A path, a symbol, a package, an issue, a person or another name that facts and sessions speak of.</p>
      </Empty>
    );
  const { entities, fact, sessionId, similar, facts, related, relations } = thread;
  const isKnown = entities.length > 0 || fact !== undefined || sessionId !== "";
  return (
    <div className={styles.thread} aria-busy={pages.isLoading}>
      <TroubleNote trouble={trouble} onAgain={again} />
      {isKnown ? <Head thread={thread} /> : <h2>Nothing that is remembered speaks of it</h2>}
      <Entities label="Similar names" entities={similar} project={project} />
      {facts.length === 0 ? null : (
        <ValidityBars
          facts={facts}
          factId={opened || (fact?.factId ?? "")}
          more={({ factId, supersededBy }) => (
            <>
              <FactButton words="open" factId={factId} onOpen={onOpen} />
              {supersededBy === "" ? null : (
                <FactButton words={`replaced by ${supersededBy.slice(0, 8)}`} factId={supersededBy} onOpen={onOpen} />
              )}
            </>
          )}
        />
      )}
      {relations.length === 0 ? null : (
        <section aria-label="What it is said to be">
          <h3>What it is said to be</h3>
          <ul>
            {relations.map(({ factId, subject, predicate, object }) => (
              <li key={factId}>
                <Link href={threadPath(subject, project)}>{shownProse(subject)}</Link>, {shownProse(predicate)}: {shownProse(object)}
              </li>
            ))}
          </ul>
        </section>
      )}
      <Entities label="Named together with it" entities={related} project={project} />
      <ThreadEvents events={items.flatMap(({ events }) => events)} onOpen={onOpen} />
      {pages.hasOlder ? <Button onClick={pages.older}>Earlier</Button> : null}
    </div>
  );
}

function Head({ thread: { entities, fact, sessionId } }: { readonly thread: GetThreadResponse }) {
  const kinds = entities.map(
    ({ kind, items }) => `${enumWord(EntityKindSchema, kind)}, ${items} ${items === 1 ? "fact or turn" : "facts and turns"}`,
  );
  return (
    <header>
      <h2>{shownProse(fact?.text ?? (sessionId === "" ? (entities[0]?.name ?? "") : `Session ${sessionId}`))}</h2>
      <p>{fact === undefined ? kinds.join(" · ") : "fact"}</p>
    </header>
  );
}

interface EntitiesProps {
  readonly label: string;
  readonly entities: readonly Entity[];
  readonly project: string;
}

function Entities({ label, entities, project }: EntitiesProps) {
  if (entities.length === 0) return null;
  return (
    <nav className={styles.entities} aria-label={label}>
      <h3>{label}</h3>
      <ul>
        {entities.map(({ kind, name, items }) => (
          <li key={`${kind} ${name}`}>
            <Link href={threadPath(name, project)} title={enumWord(EntityKindSchema, kind)}>
              {shownProse(name)}
            </Link>{" "}
            {items}
          </li>
        ))}
      </ul>
    </nav>
  );
}

function FactButton({
  words,
  factId,
  onOpen,
}: {
  readonly words: string;
  readonly factId: string;
  readonly onOpen: (factId: string) => void;
}) {
  return (
    <button type="button" className={styles.fact} onClick={() => onOpen(factId)}>
      {words}
    </button>
  );
}
