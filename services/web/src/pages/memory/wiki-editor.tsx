import { RevisionState, WikiScope, WikiService, type WikiPage, type WikiRevision } from "@hlvm/proto/hlvm/memory/v1/wiki_pb";
import { useState } from "react";
import { useAction } from "../../api/use-call.ts";
import { useClient } from "../../api/use-client.ts";
import { Button } from "../../parts/button.tsx";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import type { HrefOf } from "./wiki-view.tsx";
import styles from "./wiki.module.css";

const NEW_PAGE = "---\ntitle: \nsummary: \n---\n\n";

interface WikiEditorProps {
  readonly project: string;
  /** undefined: a new one is written. */
  readonly page: WikiPage | undefined;
  readonly onCancel: () => void;
  readonly onWritten: (revision: WikiRevision) => void;
}

/** A page's whole text, written on the revision that was read; what was typed stays where it is refused. */
export function WikiEditor({ project, page, onCancel, onWritten }: WikiEditorProps) {
  const wiki = useClient(WikiService);
  const [name, setName] = useState(page?.name ?? "");
  const [scope, setScope] = useState(page?.scope ?? (project === "" ? WikiScope.TEAM : WikiScope.PROJECT));
  const [content, setContent] = useState(page?.content ?? NEW_PAGE);
  const [reason, setReason] = useState("");
  const save = useAction(async () => {
    const { revision } = await wiki.writeWikiPage({ project, name: name.trim(), scope, content, base: page?.number ?? 0, reason });
    onWritten(revision!);
  });
  return (
    <form
      className={styles.editor}
      onSubmit={(event) => {
        event.preventDefault();
        save.run();
      }}
    >
      {page === undefined ? (
        <div className={styles.fields}>
          <input
            aria-label="Name"
            placeholder="Name, such as deploy/roll-back"
            autoFocus
            required
            maxLength={128}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
          <select
            aria-label="Whose page"
            value={scope === WikiScope.TEAM ? "team" : "project"}
            onChange={(event) => setScope(event.target.value === "team" ? WikiScope.TEAM : WikiScope.PROJECT)}
          >
            {project === "" ? null : <option value="project">of the project</option>}
            <option value="team">of the organization</option>
          </select>
        </div>
      ) : (
        <h2>{name}</h2>
      )}
      <textarea
        aria-label="The page"
        rows={20}
        spellCheck
        autoFocus={page !== undefined}
        value={content}
        onChange={(event) => setContent(event.target.value)}
      />
      <TroubleNote trouble={save.trouble} />
      <div className={styles.fields}>
        <input aria-label="Why" placeholder="Why" maxLength={1000} value={reason} onChange={(event) => setReason(event.target.value)} />
        <Button type="submit" look="primary" disabled={save.isBusy || name.trim() === "" || content === page?.content}>
          Save
        </Button>
        <Button onClick={onCancel}>Cancel</Button>
      </div>
    </form>
  );
}

/** Where one looks at what was written: published, at the page; else at what waits. */
export function hrefOfWritten({ name, scope, revisionId, removes, state }: WikiRevision, hrefOf: HrefOf): string {
  if (state === RevisionState.WAITING) return hrefOf({ revision: revisionId });
  return removes ? hrefOf({}) : hrefOf({ page: name, scope });
}
