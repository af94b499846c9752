import { FactScope, MemoryService } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { useState } from "react";
import { useAction } from "../../api/use-call.ts";
import { useClient } from "../../api/use-client.ts";
import { Button } from "../../parts/button.tsx";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import styles from "./memory.module.css";

/** A line that is remembered for the sessions of who writes it. */
export function WriteFact({ project, onWritten }: { readonly project: string; readonly onWritten: (factId: string) => void }) {
  const memory = useClient(MemoryService);
  const [text, setText] = useState("");
  const write = useAction(async () => {
    const { fact } = await memory.writeFact({ text, scope: FactScope.PERSONAL, project });
    setText("");
    onWritten(fact!.factId);
  });
  return (
    <form
      className={styles.write}
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== "") write.run();
      }}
    >
      <input
        aria-label="Something to remember"
        placeholder="Write something down, for your sessions"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <Button type="submit" disabled={text.trim() === "" || write.isBusy}>
        Remember
      </Button>
      <TroubleNote trouble={write.trouble} />
    </form>
  );
}
