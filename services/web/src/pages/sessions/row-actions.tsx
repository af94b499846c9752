import type { Session } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { Archive, ArchiveRestore, GitFork, Users } from "lucide-react";
import { useLocation } from "wouter";
import { useAction } from "../../api/use-call.ts";
import { Button } from "../../parts/button.tsx";
import { Icon } from "../../parts/icon.tsx";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import { usePage } from "../../store/page-context.ts";
import styles from "./sessions.module.css";

interface RowActionsProps {
  readonly session: Session;
  /** Its keys are those of the row that has the focus. */
  readonly hasFocus: boolean;
  readonly onChanged: () => void;
}

/** What is done with a session without opening it; seen where the row is pointed at or has the focus. */
export function RowActions({ session: { sessionId, title, archived }, hasFocus, onChanged }: RowActionsProps) {
  const { clients } = usePage();
  const [, navigate] = useLocation();
  const archive = useAction(async () => {
    await clients.sessions.updateSession({ sessionId, archived: !archived });
    onChanged();
  });
  const fork = useAction(async () => {
    const { session: forked } = await clients.sessions.forkSession({ sessionId });
    navigate(`/s/${forked!.sessionId}`);
  });
  const key = (name: string): string | undefined => (hasFocus ? name : undefined);
  const archiveWord = archived ? "Take back from the archive" : "Archive";
  return (
    <span className={styles.actions}>
      <TroubleNote trouble={archive.trouble ?? fork.trouble} />
      <Button
        look="bare"
        data-key={key("e")}
        disabled={archive.isBusy}
        title={archiveWord}
        aria-label={`${archiveWord}: ${title}`}
        onClick={() => archive.run()}
      >
        <Icon of={archived ? ArchiveRestore : Archive} size={14} />
      </Button>
      <Button
        look="bare"
        data-key={key("f")}
        disabled={fork.isBusy}
        title="Fork: go on in a session of my own"
        aria-label={`Fork: ${title}`}
        onClick={() => fork.run()}
      >
        <Icon of={GitFork} size={14} />
      </Button>
      <Button
        look="bare"
        data-key={key("s")}
        title="Share"
        aria-label={`Share: ${title}`}
        onClick={() => navigate(`/s/${sessionId}?panel=people`)}
      >
        <Icon of={Users} size={14} />
      </Button>
    </span>
  );
}
