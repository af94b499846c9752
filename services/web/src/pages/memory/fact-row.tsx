import type { MessageInitShape } from "@bufbuild/protobuf";
import { enumWord } from "@hlvm/ndjson/enum-word";
import {
  FactOriginSchema,
  FactScopeSchema,
  MemoryService,
  type EditFactRequestSchema,
  type Fact,
} from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { Pencil, Pin, PinOff, Trash2 } from "lucide-react";
import { useState } from "react";
import { useAction } from "../../api/use-call.ts";
import { useClient } from "../../api/use-client.ts";
import { Button } from "../../parts/button.tsx";
import { Icon } from "../../parts/icon.tsx";
import parts from "../../parts/parts.module.css";
import { RelativeTime } from "../../parts/relative-time.tsx";
import { shownProse } from "../../parts/shown-text.ts";
import table from "../../parts/table.module.css";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import { personName } from "../../parts/words.ts";

type FactChange = NonNullable<MessageInitShape<typeof EditFactRequestSchema>["change"]>;

/** One fact, which is pinned, replaced or ended. */
export function FactRow({ fact, onChanged }: { readonly fact: Fact; readonly onChanged: () => void }) {
  const memory = useClient(MemoryService);
  const { factId, text, scope, origin, pinned, writtenBy, validFrom, project } = fact;
  const [draft, setDraft] = useState<string | undefined>(undefined);
  const change = useAction(async (asked: FactChange) => {
    await memory.editFact({ factId, project, change: asked });
    setDraft(undefined);
    onChanged();
  });
  return (
    <li className={table.fact}>
      {draft === undefined ? (
        <p>{shownProse(text)}</p>
      ) : (
        <form
          className={table.edit}
          onSubmit={(event) => {
            event.preventDefault();
            change.run({ case: "replacementText", value: draft.trim() });
          }}
        >
          <input
            className={`${table.input} ${table.wide}`}
            aria-label="The fact as it should be"
            autoFocus
            required
            value={draft}
            onChange={(event) => setDraft(event.target.value)}
          />
          <Button type="submit" look="primary" disabled={change.isBusy || draft.trim() === "" || draft.trim() === text}>
            Replace
          </Button>
          <Button onClick={() => setDraft(undefined)}>Cancel</Button>
        </form>
      )}
      <div className={table.actions}>
        <Button look="bare" disabled={change.isBusy} onClick={() => setDraft(text)}>
          <Icon of={Pencil} size={14} /> Edit
        </Button>
        <Button look="bare" disabled={change.isBusy} onClick={() => change.run({ case: "pinned", value: !pinned })}>
          <Icon of={pinned ? PinOff : Pin} size={14} /> {pinned ? "Unpin" : "Pin"}
        </Button>
        <Button look="bare" disabled={change.isBusy} onClick={() => change.run({ case: "remove", value: true })}>
          <Icon of={Trash2} size={14} /> End
        </Button>
      </div>
      <p>
        {pinned ? <span className={parts.chip}>pinned</span> : null} {enumWord(FactScopeSchema, scope)} ·{" "}
        {enumWord(FactOriginSchema, origin).replaceAll("_", " ")} by {personName(writtenBy)} · <RelativeTime at={validFrom} />
      </p>
      <TroubleNote trouble={change.trouble} />
    </li>
  );
}
