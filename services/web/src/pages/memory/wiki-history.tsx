import { enumWord } from "@hlvm/ndjson/enum-word";
import { RevisionState, RevisionStateSchema, WikiScope, WikiService, type WikiRevision } from "@hlvm/proto/hlvm/memory/v1/wiki_pb";
import { Link } from "wouter";
import { useCall } from "../../api/use-call.ts";
import { useClient } from "../../api/use-client.ts";
import { RelativeTime } from "../../parts/relative-time.tsx";
import { shownProse } from "../../parts/shown-text.ts";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import { personName } from "../../parts/words.ts";
import type { HrefOf } from "./wiki-view.tsx";
import styles from "./wiki.module.css";

interface WikiHistoryProps {
  readonly name: string;
  readonly scope: WikiScope;
  /** The revision that is published; 0 where none is. */
  readonly number: number;
  readonly project: string;
  readonly hrefOf: HrefOf;
}

/** The revisions of a page, the one that was written last first. */
export function WikiHistory({ name, scope, number, project, hrefOf }: WikiHistoryProps) {
  const wiki = useClient(WikiService);
  const { value, trouble, again } = useCall(`history ${number}`, (signal) => wiki.listWikiRevisions({ project, name }, { signal }));
  if (trouble !== undefined) return <TroubleNote trouble={trouble} onAgain={again} />;
  const revisions = value?.revisions.filter((revision) => scope === WikiScope.UNSPECIFIED || revision.scope === scope) ?? [];
  if (revisions.length === 0) return null;
  return (
    <section>
      <h3>History</h3>
      <ol className={styles.list} aria-label="History">
        {revisions.map((revision) => (
          <li key={revision.revisionId} className={styles.finding}>
            <Link href={hrefOf({ revision: revision.revisionId })}>{stateText(revision)}</Link>
            {revision.reason === "" ? null : <span>{shownProse(revision.reason)}</span>}
            <small>
              <WrittenBy revision={revision} />
            </small>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** `published as 3`, `to remove, waiting`. */
export function stateText({ state, number, removes }: WikiRevision): string {
  const word = enumWord(RevisionStateSchema, state);
  if (state !== RevisionState.PUBLISHED) return removes ? `to remove, ${word}` : word;
  return removes ? "removed" : `published as ${number}`;
}

/** Who wrote it, by a run or not, when, and who decided it. */
export function WrittenBy({ revision }: { readonly revision: WikiRevision }) {
  const { writtenBy, sessionId, writtenAt, state, decidedBy } = revision;
  return (
    <>
      by {personName(writtenBy)}
      {sessionId === "" ? null : (
        <>
          , by a run in <Link href={`/s/${sessionId}`}>session {sessionId.slice(0, 8)}</Link>
        </>
      )}
      , <RelativeTime at={writtenAt} />
      {decidedBy === "" ? null : `, ${state === RevisionState.REJECTED ? "rejected" : "approved"} by ${personName(decidedBy)}`}
    </>
  );
}
