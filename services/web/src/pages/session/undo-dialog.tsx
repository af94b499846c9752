import { RestoredPath_Action as Action, type RestoredPath } from "@hlvm/proto/hlvm/sandbox/v1/runner_pb";
import { useEffect, useRef, useState } from "react";
import { useAction, useCall } from "../../api/use-call.ts";
import { Button } from "../../parts/button.tsx";
import parts from "../../parts/parts.module.css";
import { shownCode, shownProse } from "../../parts/shown-text.ts";
import { Skeleton } from "../../parts/skeleton.tsx";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import { countWord } from "../../parts/words.ts";
import { usePage } from "../../store/page-context.ts";
import styles from "./session.module.css";

const SHOWN_PATHS = 100;
const WORDS: Readonly<Record<number, string>> = {
  [Action.CREATE]: "comes back",
  [Action.CHANGE]: "goes back",
  [Action.DELETE]: "is deleted",
};

interface UndoDialogProps {
  readonly sessionId: string;
  readonly onClose: () => void;
}

/** Goes back to an earlier turn, conversation and files, once the person has seen what that is and said so. */
export function UndoDialog({ sessionId, onClose }: UndoDialogProps) {
  const { clients } = usePage();
  const dialog = useRef<HTMLDialogElement>(null);
  const [chosen, setChosen] = useState<number | undefined>(undefined);
  const [failed, setFailed] = useState<readonly RestoredPath[]>([]);
  useEffect(() => dialog.current?.showModal(), []);
  // What going back to before the first turn would undo is all the turns that there are.
  const all = useCall(sessionId, (signal) => clients.sessions.undoToTurn({ sessionId, toTurn: 0, preview: true }, { signal }));
  const preview = useCall(`${sessionId} ${chosen ?? ""}`, async (signal) =>
    chosen === undefined
      ? undefined
      : { toTurn: chosen, ...(await clients.sessions.undoToTurn({ sessionId, toTurn: chosen, preview: true }, { signal })) },
  );
  const undo = useAction(async (toTurn: number, acceptIncomplete: boolean) => {
    const done = await clients.sessions.undoToTurn({ sessionId, toTurn, acceptIncomplete });
    const left = done.paths.filter(({ failure }) => failure !== "");
    if (left.length === 0) onClose();
    else setFailed(left);
  });
  const turns = all.value?.turns.toSorted((one, other) => one.turn - other.turn) ?? [];
  const shown = preview.value?.toTurn === chosen ? preview.value : undefined;
  return (
    <dialog ref={dialog} className={styles.undo} aria-labelledby="undo-title" onClose={onClose}>
      <h2 id="undo-title">Undo to a turn</h2>
      <TroubleNote trouble={all.trouble ?? preview.trouble ?? undo.trouble} />
      {all.value === undefined && all.trouble === undefined ? <Skeleton rows={4} /> : null}
      <fieldset>
        <legend>The last turn that still counts</legend>
        {[{ turn: 0, summary: "before the first turn" }, ...turns.slice(0, -1)].map(({ turn, summary }) => (
          <label key={turn}>
            <input type="radio" name="turn" checked={chosen === turn} onChange={() => setChosen(turn)} />
            <span>{turn === 0 ? "0" : turn}</span>
            <span>{shownProse(summary)}</span>
          </label>
        ))}
      </fieldset>
      {shown === undefined ? null : (
        <div role="status">
          <p>
            {countWord(shown.turns.length, "turn")} undone, {countWord(shown.pathCount, "file")} put back.
          </p>
          <ul>
            {shown.paths.slice(0, SHOWN_PATHS).map(({ path, action, changedByOthers }) => (
              <li key={path}>
                <code>{shownCode(path)}</code> {changedByOthers ? "stays, others changed it" : WORDS[action]}
              </li>
            ))}
          </ul>
          {shown.pathCount > SHOWN_PATHS ? <p>and {shown.pathCount - SHOWN_PATHS} more</p> : null}
          {shown.incomplete ? (
            <p className={parts.warn}>
              What the workspace held before these turns may not be kept any more: not all that they wrote goes back.
            </p>
          ) : null}
          <p className={parts.advice}>git's own history, node_modules and the like stay as they are.</p>
        </div>
      )}
      {failed.length === 0 ? null : (
        <ul role="alert">
          {failed.map(({ path, failure }) => (
            <li key={path}>
              Could not go back: <code>{shownCode(path)}</code> {failure}
            </li>
          ))}
        </ul>
      )}
      <div className={styles.undoButtons}>
        <Button
          look="primary"
          disabled={shown === undefined || undo.isBusy || failed.length > 0}
          onClick={() => shown !== undefined && undo.run(shown.toTurn, shown.incomplete)}
        >
          {chosen === undefined ? "Go back" : chosen === 0 ? "Go back to before the first turn" : `Go back to turn ${chosen}`}
        </Button>
        <Button onClick={onClose}>Leave it as it is</Button>
      </div>
    </dialog>
  );
}
