import { PermissionMode } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { CornerDownLeft } from "lucide-react";
import { useEffect, useState } from "react";
import { useLocation } from "wouter";
import { useAction } from "../../api/use-call.ts";
import { AttachButton, AttachedFiles } from "../../parts/attach-files.tsx";
import { useAttachments } from "../../parts/attachments.ts";
import { Button } from "../../parts/button.tsx";
import composer from "../../parts/composer.module.css";
import { Icon } from "../../parts/icon.tsx";
import { MODE_HINTS, ModeSelect } from "../../parts/mode-select.tsx";
import { ModelSelect } from "../../parts/model-select.tsx";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import { usePage } from "../../store/page-context.ts";
import styles from "./sessions.module.css";

interface StartComposerProps {
  /** Folders that sessions worked in, the last one first. */
  readonly workspaces: readonly string[];
  readonly prompt: string;
  readonly onPrompt: (prompt: string) => void;
}

/** Asks something in a new session. */
export function StartComposer({ workspaces, prompt, onPrompt }: StartComposerProps) {
  const { clients } = usePage();
  const [, navigate] = useLocation();
  const [workspace, setWorkspace] = useState("");
  const [mode, setMode] = useState<PermissionMode>(PermissionMode.DEFAULT);
  const [model, setModel] = useState("");
  const attachments = useAttachments();
  const [latest] = workspaces;
  useEffect(() => {
    if (latest !== undefined) setWorkspace((before) => before || latest);
  }, [latest]);
  const start = useAction(async () => {
    const { sessionId } = await clients.sessions.startRun({
      prompt,
      attachments: [...attachments.files],
      workspace: workspace.trim(),
      model,
      settings: { mode, canAsk: true },
    });
    onPrompt("");
    attachments.clear();
    navigate(`/s/${sessionId}`);
  });
  const isReady = prompt.trim() !== "" && workspace.trim() !== "" && !start.isBusy;
  return (
    <form
      className={styles.ask}
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) start.run();
      }}
    >
      <div className={composer.composer}>
        <textarea
          id="ask"
          data-key="c"
          className={composer.text}
          aria-label="What is to be done"
          placeholder="Ask, or say what is to be done"
          rows={1}
          value={prompt}
          onChange={(event) => onPrompt(event.target.value)}
          onPaste={({ clipboardData }) => attachments.add(clipboardData.files)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
            event.preventDefault();
            event.currentTarget.form?.requestSubmit();
          }}
        />
        <AttachedFiles attachments={attachments} />
        <div className={composer.bar}>
          <AttachButton attachments={attachments} />
          <input
            className={`${composer.field} ${composer.workspace}`}
            aria-label="Workspace: a folder on the machine of the mesh"
            placeholder="/folder/to/work/in"
            list="workspaces"
            value={workspace}
            onChange={(event) => setWorkspace(event.target.value)}
          />
          <datalist id="workspaces">
            {workspaces.map((path) => (
              <option key={path} value={path} />
            ))}
          </datalist>
          <ModeSelect mode={mode} onMode={setMode} />
          <ModelSelect model={model} onModel={setModel} />
          <span className={composer.fill} />
          <span className={composer.hint}>{MODE_HINTS[mode]}</span>
          <Button type="submit" look="primary" disabled={!isReady}>
            Start <Icon of={CornerDownLeft} size={14} />
          </Button>
        </div>
      </div>
      <TroubleNote trouble={start.trouble} />
    </form>
  );
}
