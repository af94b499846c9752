import { enumWord } from "@hlvm/ndjson/enum-word";
import { RevisionState, WikiScopeSchema, WikiService, type WikiPage, type WikiRevision } from "@hlvm/proto/hlvm/memory/v1/wiki_pb";
import { useDeferredValue, useState } from "react";
import { Link, useLocation } from "wouter";
import { useCall } from "../../api/use-call.ts";
import { useClient } from "../../api/use-client.ts";
import { Button } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { RelativeTime } from "../../parts/relative-time.tsx";
import { shownProse } from "../../parts/shown-text.ts";
import { Skeleton } from "../../parts/skeleton.tsx";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import { personName } from "../../parts/words.ts";
import { hrefOfWritten, WikiEditor } from "./wiki-editor.tsx";
import { WikiFindings } from "./wiki-findings.tsx";
import { WrittenBy } from "./wiki-history.tsx";
import type { HrefOf } from "./wiki-view.tsx";
import styles from "./wiki.module.css";

const MOST = 50;

interface WikiListProps {
  readonly query: string;
  readonly project: string;
  readonly hrefOf: HrefOf;
}

/** What waits to be approved, all pages or those with the words, and what is wrong in them. */
export function WikiList({ query, project, hrefOf }: WikiListProps) {
  const wiki = useClient(WikiService);
  const [, navigate] = useLocation();
  const [isWriting, setWriting] = useState(false);
  const words = useDeferredValue(query.trim());
  const { value, trouble, again } = useCall(`wiki ${project} ${words}`, async (signal) => {
    const [{ revisions }, pages] = await Promise.all([
      wiki.listWikiRevisions({ project, state: RevisionState.WAITING, limit: MOST }, { signal }),
      words === ""
        ? wiki.listWikiPages({ project }, { signal }).then((answer) => answer.pages)
        : wiki.searchWiki({ project, query: words, limit: MOST }, { signal }).then(({ found }) => found.map(({ page }) => page!)),
    ]);
    return { proposals: revisions, pages };
  });
  if (isWriting)
    return (
      <WikiEditor
        project={project}
        page={undefined}
        onCancel={() => setWriting(false)}
        onWritten={(revision) => navigate(hrefOfWritten(revision, hrefOf))}
      />
    );
  if (value === undefined) return trouble === undefined ? <Skeleton rows={6} /> : <TroubleNote trouble={trouble} onAgain={again} />;
  return (
    <div className={styles.wiki}>
      <TroubleNote trouble={trouble} onAgain={again} />
      <div className={styles.bar}>
        <Button onClick={() => setWriting(true)}>New page</Button>
      </div>
      {value.proposals.length === 0 ? null : <Proposals proposals={value.proposals} hrefOf={hrefOf} />}
      {value.pages.length > 0 ? (
        <ul className={styles.list} aria-label="Pages">
          {value.pages.map((page) => (
            <PageRow key={`${page.scope} ${page.name}`} page={page} href={hrefOf({ page: page.name, scope: page.scope })} />
          ))}
        </ul>
      ) : words === "" ? (
        <Empty title="The wiki has no pages yet" command="hlvm memory wiki write NAME --file FILE">
          <p>How this project and the organization do things: runs propose pages, people write and approve them.</p>
        </Empty>
      ) : (
        <p className={styles.note}>No page holds these words.</p>
      )}
      {words === "" && value.pages.length > 0 ? <WikiFindings project={project} hrefOf={hrefOf} /> : null}
    </div>
  );
}

function PageRow({ page, href }: { readonly page: WikiPage; readonly href: string }) {
  const { name, title, summary, content, scope, tags, writtenBy, publishedAt, waiting } = page;
  return (
    <li>
      <Link href={href} className={styles.row}>
        <strong>{shownProse(title)}</strong>
        {summary === "" && content === "" ? null : <span className={styles.excerpt}>{shownProse(content || summary)}</span>}
        <small>
          {name} · {enumWord(WikiScopeSchema, scope)}
          {tags.map((tag) => ` · #${shownProse(tag)}`)} · {personName(writtenBy)} · <RelativeTime at={publishedAt} />
          {waiting === 0 ? null : <em> · {waiting} wait</em>}
        </small>
      </Link>
    </li>
  );
}

function Proposals({ proposals, hrefOf }: { readonly proposals: readonly WikiRevision[]; readonly hrefOf: HrefOf }) {
  return (
    <section>
      <h2>Waiting</h2>
      <ul className={styles.list} aria-label="Proposals">
        {proposals.map((revision) => (
          <li key={revision.revisionId} className={styles.proposal}>
            <Link href={hrefOf({ revision: revision.revisionId })}>{revision.name}</Link>
            {revision.reason === "" ? null : <span>{shownProse(revision.reason)}</span>}
            <small>
              {revision.removes ? "to remove" : revision.base === 0 ? "a new page" : "to change"} ·{" "}
              {enumWord(WikiScopeSchema, revision.scope)} · <WrittenBy revision={revision} />
            </small>
          </li>
        ))}
      </ul>
    </section>
  );
}
