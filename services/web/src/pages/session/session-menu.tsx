import { ExportFormat, type Session } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { Archive, Ellipsis, FileDown, GitFork, Undo2, Users } from "lucide-react";
import { lazy, Suspense, useRef, useState } from "react";
import { useLocation } from "wouter";
import { useAction } from "../../api/use-call.ts";
import { Button } from "../../parts/button.tsx";
import { Icon } from "../../parts/icon.tsx";
import parts from "../../parts/parts.module.css";
import { saveAs } from "../../parts/save-as.ts";
import table from "../../parts/table.module.css";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import { usePage } from "../../store/page-context.ts";

const UndoDialog = lazy(async () => ({ default: (await import("./undo-dialog.tsx")).UndoDialog }));
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
  const [isUndoing, setIsUndoing] = useState(false);
  const menu = useRef<HTMLDetailsElement>(null);
  const [title, setTitle] = useState(session.title);
  const { sessionId, archived } = session;
  const action = useAction(async (act: () => Promise<void>) => {
    await act();
    menu.current?.removeAttribute("open");
  });
  const openPeople = async (): Promise<void> => navigate(`/s/${sessionId}?panel=people`);
  const openUndo = async (): Promise<void> => setIsUndoing(true);
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
  const save = async (format: ExportFormat, ending: string): Promise<void> => {
    const pieces: string[] = [];
    for await (const { text } of clients.sessions.exportSession({ sessionId, format }, { timeoutMs: 0 })) pieces.push(text);
    saveAs(`session-${sessionId.slice(0, 8)}.${ending}`, new Blob(pieces, { type: "text/plain" }));
  };
  return (
    <>
      <details ref={menu} className={parts.menu} data-menu>
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
          <Button look="bare" data-action="" disabled={action.isBusy} onClick={() => action.run(archive)}>
            <Icon of={Archive} size={14} /> {archived ? "Take back from the archive" : "Archive"}
          </Button>
          <Button look="bare" data-action="" data-key="f" disabled={action.isBusy} onClick={() => action.run(fork)}>
            <Icon of={GitFork} size={14} /> Fork: go on in a session of my own
          </Button>
          <Button look="bare" data-action="" disabled={action.isBusy} onClick={() => action.run(() => save(ExportFormat.MARKDOWN, "md"))}>
            <Icon of={FileDown} size={14} /> Save as Markdown
          </Button>
          <Button look="bare" data-action="" disabled={action.isBusy} onClick={() => action.run(() => save(ExportFormat.NDJSON, "ndjson"))}>
            <Icon of={FileDown} size={14} /> Save as NDJSON
          </Button>
          <Button look="bare" data-action="" onClick={() => action.run(openPeople)}>
            <Icon of={Users} size={14} /> Share and hand over …
          </Button>
          <Button look="bare" data-action="" data-key="u" onClick={() => action.run(openUndo)}>
            <Icon of={Undo2} size={14} /> Undo to a turn …
          </Button>
          <TroubleNote trouble={action.trouble} />
        </div>
      </details>
      {isUndoing ? (
        <Suspense fallback={null}>
          <UndoDialog
            sessionId={sessionId}
            onClose={() => {
              setIsUndoing(false);
              onChanged();
            }}
          />
        </Suspense>
      ) : null}
    </>
  );
}
