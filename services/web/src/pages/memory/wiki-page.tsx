import { enumWord } from "@hlvm/ndjson/enum-word";
import { RevisionState, WikiScopeSchema, WikiService, type WikiPage, type WikiScope } from "@hlvm/proto/hlvm/memory/v1/wiki_pb";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { useAction, useCall } from "../../api/use-call.ts";
import { useClient } from "../../api/use-client.ts";
import { Button } from "../../parts/button.tsx";
import { Markdown } from "../../parts/markdown.tsx";
import parts from "../../parts/parts.module.css";
import { RelativeTime } from "../../parts/relative-time.tsx";
import { shownProse } from "../../parts/shown-text.ts";
import { Skeleton } from "../../parts/skeleton.tsx";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import { personName } from "../../parts/words.ts";
import { pageText } from "./page-text.ts";
import { hrefOfWritten, WikiEditor } from "./wiki-editor.tsx";
import { WikiHistory } from "./wiki-history.tsx";
import type { HrefOf } from "./wiki-view.tsx";
import styles from "./wiki.module.css";

interface OpenedPageProps {
  readonly name: string;
  readonly scope: WikiScope;
  readonly project: string;
  readonly hrefOf: HrefOf;
}

/** A page as it is published, what it links to, and its history, which a page that is gone has too. */
export function OpenedPage({ name, scope, project, hrefOf }: OpenedPageProps) {
  const wiki = useClient(WikiService);
  const [, navigate] = useLocation();
  const [isEdited, setEdited] = useState(false);
  const { value, trouble, again } = useCall("page", (signal) => wiki.getWikiPage({ project, name, scope }, { signal }));
  const page = value?.page;
  const remove = useAction(async ({ name, scope, number }: WikiPage) => {
    const { revision } = await wiki.writeWikiPage({ project, name, scope, base: number, removes: true });
    navigate(hrefOfWritten(revision!, hrefOf));
  });
  if (page === undefined && trouble === undefined) return <Skeleton rows={8} />;
  if (page !== undefined && isEdited)
    return (
      <WikiEditor
        project={project}
        page={page}
        onCancel={() => setEdited(false)}
        onWritten={(revision) => {
          if (revision.state === RevisionState.WAITING) return navigate(hrefOfWritten(revision, hrefOf));
          setEdited(false);
          again();
        }}
      />
    );
  return (
    <article className={styles.page}>
      <div className={styles.fields}>
        <Link href={hrefOf({})} className={parts.button}>
          All pages
        </Link>
        {page === undefined ? null : (
          <>
            <Button onClick={() => setEdited(true)}>Edit</Button>
            <Button disabled={remove.isBusy} onClick={() => confirm(`Remove the page ${name}? Its history stays.`) && remove.run(page)}>
              Remove
            </Button>
          </>
        )}
      </div>
      <TroubleNote trouble={trouble ?? remove.trouble} onAgain={again} />
      {page === undefined ? null : <PublishedPage page={page} hrefOf={hrefOf} />}
      <WikiHistory name={name} scope={page?.scope ?? scope} number={page?.number ?? 0} project={project} hrefOf={hrefOf} />
    </article>
  );
}

function PublishedPage({ page, hrefOf }: { readonly page: WikiPage; readonly hrefOf: HrefOf }) {
  const { name, title, summary, scope, number, tags, content, writtenBy, publishedAt } = page;
  const { body, links } = pageText(content);
  return (
    <>
      <header>
        <h2>{shownProse(title)}</h2>
        {summary === "" ? null : <p>{shownProse(summary)}</p>}
        <small>
          {name} · {enumWord(WikiScopeSchema, scope)} · revision {number}
          {tags.map((tag) => ` · #${shownProse(tag)}`)} · {personName(writtenBy)} · <RelativeTime at={publishedAt} />
        </small>
      </header>
      <Markdown text={body} isOpen={false} />
      {links.length === 0 ? null : (
        <nav aria-label="Links">
          <h3>Links</h3>
          <ul className={styles.links}>
            {links.map((link) => (
              <li key={link}>
                <Link href={hrefOf({ page: link })}>{shownProse(link)}</Link>
              </li>
            ))}
          </ul>
        </nav>
      )}
    </>
  );
}
