import { enumWord } from "@hlvm/ndjson/enum-word";
import { RevisionState, WikiScopeSchema, WikiService } from "@hlvm/proto/hlvm/memory/v1/wiki_pb";
import { Link } from "wouter";
import { useAction, useCall } from "../../api/use-call.ts";
import { useClient } from "../../api/use-client.ts";
import { Button } from "../../parts/button.tsx";
import { HunkLines } from "../../parts/hunk-lines.tsx";
import parts from "../../parts/parts.module.css";
import { shownCode } from "../../parts/shown-text.ts";
import { Skeleton } from "../../parts/skeleton.tsx";
import { textHunks } from "../../parts/text-hunks.ts";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import { stateText, WrittenBy } from "./wiki-history.tsx";
import type { HrefOf } from "./wiki-view.tsx";
import styles from "./wiki.module.css";

interface OpenedRevisionProps {
  readonly revisionId: string;
  readonly project: string;
  readonly hrefOf: HrefOf;
}

/** What a revision changes in what it was written on, for whoever decides it. */
export function OpenedRevision({ revisionId, project, hrefOf }: OpenedRevisionProps) {
  const wiki = useClient(WikiService);
  const { value, trouble, again } = useCall("revision", async (signal) => {
    const { revision, baseContent, mayDecide } = await wiki.getWikiRevision({ project, revisionId }, { signal });
    return { revision: revision!, hunks: textHunks(baseContent, revision!.content), mayDecide };
  });
  const decide = useAction(async (approves: boolean) => {
    await (approves ? wiki.approveWikiRevision({ project, revisionId }) : wiki.rejectWikiRevision({ project, revisionId }));
    again();
  });
  if (value === undefined) return trouble === undefined ? <Skeleton rows={8} /> : <TroubleNote trouble={trouble} onAgain={again} />;
  const { revision, hunks, mayDecide } = value;
  const { name, scope, base, reason, removes, state } = revision;
  return (
    <article className={styles.page}>
      <div className={styles.fields}>
        <Link href={hrefOf({})} className={parts.button}>
          All pages
        </Link>
        <Link href={hrefOf({ page: name, scope })} className={parts.button}>
          The page
        </Link>
      </div>
      <header>
        <h2>{name}</h2>
        {reason === "" ? null : <p>{shownCode(reason)}</p>}
        <small>
          {stateText(revision)} · {enumWord(WikiScopeSchema, scope)} · {base === 0 ? "a new page" : `on revision ${base}`} ·{" "}
          <WrittenBy revision={revision} />
        </small>
      </header>
      {removes ? <p>The page goes, with all of this:</p> : null}
      {hunks.length === 0 ? <p>It changes nothing.</p> : <HunkLines hunks={hunks} />}
      <TroubleNote trouble={trouble ?? decide.trouble} />
      {mayDecide ? (
        <div className={styles.fields}>
          <Button look="primary" disabled={decide.isBusy} onClick={() => decide.run(true)}>
            Approve
          </Button>
          <Button disabled={decide.isBusy} onClick={() => decide.run(false)}>
            Reject
          </Button>
        </div>
      ) : state === RevisionState.WAITING ? (
        <p role="status">It waits: an approver decides.</p>
      ) : null}
    </article>
  );
}
