import type { Item } from "@hlvm/conversation/item";
import { X } from "lucide-react";
import { Button } from "../../parts/button.tsx";
import { Icon } from "../../parts/icon.tsx";
import { ChangesPanel } from "./changes-panel.tsx";
import { ContextPanel } from "./context-panel.tsx";
import styles from "./session.module.css";

const PANELS = ["changes", "context"] as const;

interface SidePanelProps {
  readonly sessionId: string;
  readonly panel: string;
  readonly items: readonly Item[];
  readonly onPanel: (panel: string) => void;
}

/** What belongs to a session and is not said in it. Its tab stands in the address. */
export function SidePanel({ sessionId, panel, items, onPanel }: SidePanelProps) {
  // What ended since tells when to look again; what is still coming changes neither.
  const version = items.reduce(
    (sum, item) => sum + (item.kind === "tools" ? item.calls.filter((call) => call.durationMilliseconds !== undefined).length : 1),
    0,
  );
  return (
    <section className={styles.panel} aria-label="Side panel">
      <div className={styles.tabs}>
        <div role="tablist">
          {PANELS.map((name) => (
            <button key={name} type="button" role="tab" aria-selected={panel === name} onClick={() => onPanel(name)}>
              {name === "changes" ? "Changes" : "Context"}
            </button>
          ))}
        </div>
        <Button look="bare" aria-label="Close the side panel" onClick={() => onPanel("")}>
          <Icon of={X} />
        </Button>
      </div>
      <div className={styles.panelBody} role="tabpanel" aria-label={panel} tabIndex={0}>
        {panel === "context" ? (
          <ContextPanel sessionId={sessionId} version={version} />
        ) : (
          <ChangesPanel sessionId={sessionId} version={version} />
        )}
      </div>
    </section>
  );
}
