import { SharingService } from "@hlvm/proto/hlvm/session/v1/sharing_pb";
import { useState } from "react";
import { useClient } from "../../api/use-client.ts";
import { useAction } from "../../api/use-call.ts";
import { Button } from "../../parts/button.tsx";
import table from "../../parts/table.module.css";
import { TroubleNote } from "../../parts/trouble-note.tsx";

/** Says something about a session that people see and its model does not. */
export function CommentForm({ sessionId }: { readonly sessionId: string }) {
  const sharing = useClient(SharingService);
  const [text, setText] = useState("");
  const comment = useAction(async () => {
    await sharing.comment({ sessionId, text });
    setText("");
  });
  return (
    <form
      className={table.form}
      aria-label="Comment"
      onSubmit={(event) => {
        event.preventDefault();
        comment.run();
      }}
    >
      <input
        className={`${table.input} ${table.wide}`}
        aria-label="Comment"
        placeholder="Comment: people see it, the model does not"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <Button type="submit" disabled={comment.isBusy || text.trim() === ""}>
        Comment
      </Button>
      <TroubleNote trouble={comment.trouble} />
    </form>
  );
}
