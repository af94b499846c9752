import type { MessageInitShape } from "@bufbuild/protobuf";
import { MemoryService, type EditFactRequestSchema, type FactChange } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { Pencil, Pin, PinOff, X } from "lucide-react";
import { useState } from "react";
import { Link } from "wouter";
import { useAction, useCall } from "../../api/use-call.ts";
import { useClient } from "../../api/use-client.ts";
import { Button } from "../../parts/button.tsx";
import { Icon } from "../../parts/icon.tsx";
import { shownProse } from "../../parts/shown-text.ts";
import { Skeleton } from "../../parts/skeleton.tsx";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import { FactEditor } from "./fact-editor.tsx";
import { FactHistory } from "./fact-history.tsx";
import { FactPairs } from "./fact-pairs.tsx";
import { changeWord } from "./change-marks.ts";
import { threadPath } from "./thread-path.ts";
import styles from "./memory.module.css";

type FactEdit = NonNullable<MessageInitShape<typeof EditFactRequestSchema>["change"]>;

interface OpenedFactProps {
  readonly factId: string;
  readonly project: string;
  readonly onClose: () => void;
  /** @param factId the fact that stands for it now */
  readonly onChanged: (factId: string) => void;
}

/** One fact with all that was done to it, to be pinned, replaced, ended, and made what it was before the last change. */
export function OpenedFact({ factId, project, onClose, onChanged }: OpenedFactProps) {
  const memory = useClient(MemoryService);
  const found = useCall(`${factId} ${project}`, (signal) => memory.getFact({ factId, project }, { signal }));
  const [isEditing, setIsEditing] = useState(false);
  const changed = (now: string): void => {
    setIsEditing(false);
    if (now === factId) found.again();
    onChanged(now);
  };
  const edit = useAction(async (change: FactEdit) => changed((await memory.editFact({ factId, project, change })).fact!.factId));
  const undo = useAction(async ({ changeId }: FactChange) => {
    const { change } = await memory.undoFactChange({ changeId, project });
    changed(standsNow(change!, factId));
  });
  const { fact, changes = [], moreExist = false } = found.value ?? {};
  const last = changes[0];
  const isBusy = edit.isBusy || undo.isBusy || found.isLoading;
  const holds = fact !== undefined && fact.validTo === undefined;
  const trouble = found.trouble ?? edit.trouble ?? undo.trouble;
  return (
    <aside className={styles.panel} aria-label="Fact" aria-busy={found.isLoading}>
      <header>
        <h2>
          Fact <code>{factId.slice(0, 8)}</code>
        </h2>
        <Link href={threadPath(factId, project)}>Thread</Link>
        {holds ? (
          <>
            <Button
              look="bare"
              aria-label={fact.pinned ? "Unpin" : "Pin"}
              title={`${fact.pinned ? "Unpin" : "Pin"} (p)`}
              data-key="p"
              aria-keyshortcuts="p"
              disabled={isBusy}
              onClick={() => edit.run({ case: "pinned", value: !fact.pinned })}
            >
              <Icon of={fact.pinned ? PinOff : Pin} />
            </Button>
            <Button
              look="bare"
              aria-label="Edit"
              title="Edit (e)"
              data-key="e"
              aria-keyshortcuts="e"
              disabled={isBusy}
              onClick={() => setIsEditing(true)}
            >
              <Icon of={Pencil} />
            </Button>
          </>
        ) : null}
        <Button look="bare" aria-label="Close" title="Close" onClick={onClose}>
          <Icon of={X} />
        </Button>
      </header>
      <div className={styles.about} tabIndex={0} role="group" aria-label="About it">
        <TroubleNote trouble={trouble} onAgain={found.trouble === undefined ? undefined : found.again} />
        {fact === undefined ? (
          found.trouble === undefined ? (
            <Skeleton rows={6} />
          ) : null
        ) : (
          <>
            {isEditing ? (
              <FactEditor
                text={fact.text}
                isBusy={isBusy}
                onCancel={() => setIsEditing(false)}
                onReplace={(value) => edit.run({ case: "replacementText", value })}
              />
            ) : (
              <p className={styles.statement}>{shownProse(fact.text)}</p>
            )}
            <FactPairs fact={fact} />
            <FactHistory changes={changes} moreExist={moreExist} factId={factId} />
          </>
        )}
      </div>
      <footer>
        <Button
          shortcut="Del"
          aria-keyshortcuts="Delete"
          data-key="Delete"
          disabled={!holds || isBusy}
          onClick={() => edit.run({ case: "remove", value: true })}
        >
          End
        </Button>
        <Button
          shortcut="z"
          data-key="z"
          disabled={last === undefined || isBusy}
          title={last === undefined ? undefined : `Take back: ${changeWord(last)}`}
          onClick={() => undo.run(last!)}
        >
          Undo
        </Button>
      </footer>
    </aside>
  );
}

/** Of what a change touched, the fact that holds; the one that was looked at where none does. */
function standsNow({ fact, others }: FactChange, looked: string): string {
  const all = [fact, ...others].filter((one) => one !== undefined);
  const holding = all.filter(({ validTo }) => validTo === undefined);
  return (holding.find(({ factId }) => factId === looked) ?? holding[0])?.factId ?? looked;
}
