import { ExportFormat, type Session } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { Archive, Ellipsis, FileDown, GitFork } from "lucide-react";
import { useRef, useState } from "react";
import { useLocation } from "wouter";
import { useAction } from "../../api/use-call.ts";
import { Button } from "../../parts/button.tsx";
import { Icon } from "../../parts/icon.tsx";
import parts from "../../parts/parts.module.css";
import table from "../../parts/table.module.css";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import { usePage } from "../../store/page-context.ts";
import styles from "./session.module.css";

const LONGEST_TITLE = 80;

interface SessionMenuProps {
  readonly session: Session;
  /** The session has changed, and is to be read again. */
  readonly onChanged: () => void;
}

/** What can be done with a whole session. */
export function SessionMenu({ session, onChanged }: SessionMenuProps) {
  const { clients } = usePage();
  const [, navigate] = useLocation();
  const menu = useRef<HTMLDetailsElement>(null);
  const [title, setTitle] = useState(session.title);
  const { sessionId, archived } = session;
  const action = useAction(async (act: () => Promise<void>) => {
    await act();
    menu.current?.removeAttribute("open");
  });
  const rename = async (): Promise<void> => {
    await clients.sessions.updateSession({ sessionId, title: title.trim() });
    onChanged();
  };
  const archive = async (): Promise<void> => {
    await clients.sessions.updateSession({ sessionId, archived: !archived });
    onChanged();
  };
  const fork = async (): Promise<void> => {
    const { session: forked } = await clients.sessions.forkSession({ sessionId });
    navigate(`/s/${forked!.sessionId}`);
  };
  const save = async (): Promise<void> => {
    const pieces: string[] = [];
    const format = ExportFormat.MARKDOWN;
    for await (const { text } of clients.sessions.exportSession({ sessionId, format }, { timeoutMs: 0 })) pieces.push(text);
    saveAs(`session-${sessionId.slice(0, 8)}.md`, new Blob(pieces, { type: "text/markdown" }));
  };
  return (
    <details
      ref={menu}
      className={styles.menu}
      onKeyDown={(event) => {
        if (event.key === "Escape") menu.current?.removeAttribute("open");
      }}
    >
      <summary className={parts.button} aria-label="More" role="button">
        <Icon of={Ellipsis} size={14} />
      </summary>
      <div>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            action.run(rename);
          }}
        >
          <input
            className={`${table.input} ${table.wide}`}
            aria-label="Title"
            required
            maxLength={LONGEST_TITLE}
            value={title}
            onChange={(event) => setTitle(event.target.value)}
          />
          <Button type="submit" disabled={action.isBusy || title.trim() === ""}>
            Rename
          </Button>
        </form>
        <Button look="bare" disabled={action.isBusy} onClick={() => action.run(archive)}>
          <Icon of={Archive} size={14} /> {archived ? "Take back from the archive" : "Archive"}
        </Button>
        <Button look="bare" disabled={action.isBusy} onClick={() => action.run(fork)}>
          <Icon of={GitFork} size={14} /> Fork: go on in a session of my own
        </Button>
        <Button look="bare" disabled={action.isBusy} onClick={() => action.run(save)}>
          <Icon of={FileDown} size={14} /> Save as Markdown
        </Button>
        <TroubleNote trouble={action.trouble} />
      </div>
    </details>
  );
}

function saveAs(name: string, blob: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
