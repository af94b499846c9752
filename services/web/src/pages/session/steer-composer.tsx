import { PermissionMode } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { CornerDownLeft, Square } from "lucide-react";
import { useRef, useState } from "react";
import { useAction } from "../../api/use-call.ts";
import { AttachButton, AttachedFiles } from "../../parts/attach-files.tsx";
import { useAttachments } from "../../parts/attachments.ts";
import { Button } from "../../parts/button.tsx";
import composer from "../../parts/composer.module.css";
import { Icon } from "../../parts/icon.tsx";
import { MODE_HINTS, ModeSelect } from "../../parts/mode-select.tsx";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import { costWord, modeWord } from "../../parts/words.ts";
import type { SessionView } from "../../store/session-store.ts";
import { usePage } from "../../store/page-context.ts";
import styles from "./session.module.css";

const TWICE_MILLISECONDS = 600;

/** Says something: to the run that goes on, whose model reads it before its next turn, or as a new question. */
export function SteerComposer({ sessionId, view }: { readonly sessionId: string; readonly view: SessionView }) {
  const { clients } = usePage();
  const { isRunning, run, session } = view;
  const [text, setText] = useState("");
  const [mode, setMode] = useState<PermissionMode>(PermissionMode.DEFAULT);
  const attachments = useAttachments();
  const escapedAt = useRef(-Infinity);
  const send = useAction(async () => {
    if (isRunning) await clients.sessions.sendMessage({ sessionId, text, attachments: [...attachments.files] });
    else
      await clients.sessions.startRun({ sessionId, prompt: text, attachments: [...attachments.files], settings: { mode, canAsk: true } });
    setText("");
    attachments.clear();
  });
  const stop = useAction(async () => {
    await clients.sessions.cancelRun({ sessionId, runId: run?.runId ?? session?.runningRunId ?? "" });
  });
  const isReady = text.trim() !== "" && !send.isBusy;
  const onKeyDown = (event: React.KeyboardEvent<HTMLTextAreaElement>): void => {
    if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
      event.preventDefault();
      if (isReady) send.run();
    }
    if (event.key !== "Escape" || !isRunning) return;
    if (event.timeStamp - escapedAt.current < TWICE_MILLISECONDS) stop.run();
    escapedAt.current = event.timeStamp;
  };
  const cost = costWord(run?.cost ?? session?.cost);
  return (
    <div className={styles.below}>
      <TroubleNote trouble={send.trouble ?? stop.trouble} />
      <div className={composer.composer}>
        <textarea
          className={composer.text}
          aria-label={isRunning ? "Steer this run" : "Ask more"}
          placeholder={isRunning ? "Steer this run; it is read at the next turn" : "Ask more"}
          rows={1}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKeyDown}
          onPaste={({ clipboardData }) => attachments.add(clipboardData.files)}
        />
        <AttachedFiles attachments={attachments} />
        <div className={composer.bar}>
          <AttachButton attachments={attachments} />
          {isRunning ? (
            <span className={composer.hint}>{modeWord(run?.mode ?? PermissionMode.UNSPECIFIED)}</span>
          ) : (
            <ModeSelect mode={mode} onMode={setMode} />
          )}
          <span className={composer.hint}>{(run?.model || session?.model) ?? ""}</span>
          <span className={composer.fill} />
          <span className={composer.hint}>{isRunning ? cost : [MODE_HINTS[mode], cost].filter(Boolean).join(" · ")}</span>
          {isRunning ? (
            <Button disabled={stop.isBusy} onClick={() => stop.run()}>
              <Icon of={Square} size={14} /> Stop
            </Button>
          ) : null}
          <Button look="primary" disabled={!isReady} onClick={() => send.run()}>
            {isRunning ? "Steer" : "Ask"} <Icon of={CornerDownLeft} size={14} />
          </Button>
        </div>
      </div>
    </div>
  );
}
