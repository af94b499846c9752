import { useState } from "react";
import { Button } from "../../parts/button.tsx";
import styles from "./memory.module.css";

interface FactEditorProps {
  readonly text: string;
  readonly isBusy: boolean;
  readonly onCancel: () => void;
  readonly onReplace: (text: string) => void;
}

/** Another text in a fact's place. */
export function FactEditor({ text, isBusy, onCancel, onReplace }: FactEditorProps) {
  const [draft, setDraft] = useState(text);
  const clean = draft.trim();
  return (
    <form
      className={styles.editor}
      onSubmit={(event) => {
        event.preventDefault();
        if (clean !== "" && clean !== text) onReplace(clean);
      }}
    >
      <textarea
        aria-label="The fact as it should be"
        autoFocus
        rows={4}
        value={draft}
        onChange={(event) => setDraft(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
            event.preventDefault();
            event.currentTarget.form!.requestSubmit();
          }
        }}
      />
      <div>
        <Button type="submit" look="primary" disabled={isBusy || clean === "" || clean === text}>
          Replace
        </Button>
        <Button onClick={onCancel}>Cancel</Button>
      </div>
      <p>The text that it has now stays in its history.</p>
    </form>
  );
}
