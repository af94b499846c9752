import { useState } from "react";
import { useRoute } from "wouter";
import { useAction } from "../api/use-call.ts";
import { Button } from "../parts/button.tsx";
import { CommandOutput } from "../parts/command-output.tsx";
import { TroubleNote } from "../parts/trouble-note.tsx";
import { usePage } from "../store/page-context.ts";
import styles from "./items.module.css";

/** As much as one answer has; what a call came to seldom has more. */
const MOST_CHARACTERS = 1024 * 1024;

interface EarlierOutputProps {
  readonly callId: string;
  readonly tool: string;
  /** What the item has left out. */
  readonly omittedCharacters: number;
}

/** All that a call came to, of which the conversation has the end: read when somebody asks for it. */
export function EarlierOutput({ callId, tool, omittedCharacters }: EarlierOutputProps) {
  const { clients } = usePage();
  const [, place] = useRoute("/s/:id");
  const [whole, setWhole] = useState<{ readonly text: string; readonly total: number } | undefined>(undefined);
  const read = useAction(async () => {
    const { text, total } = await clients.sessions.readOutput({ sessionId: place?.id ?? "", callId, limit: MOST_CHARACTERS });
    setWhole({ text, total });
  });
  if (whole !== undefined)
    return (
      <>
        <div className={styles.output} tabIndex={0} role="group" aria-label={`All that ${tool} printed`}>
          <CommandOutput text={whole.text} />
        </div>
        {whole.text.length < whole.total ? (
          <p className={styles.foot}>
            These are the first {whole.text.length.toLocaleString()} of {whole.total.toLocaleString()} characters: hlvm session output has
            all.
          </p>
        ) : null}
      </>
    );
  return (
    <p className={styles.foot}>
      The first {omittedCharacters.toLocaleString()} characters are not shown.{" "}
      <Button look="bare" disabled={read.isBusy} onClick={() => read.run()}>
        Show all of it
      </Button>
      <TroubleNote trouble={read.trouble} />
    </p>
  );
}
