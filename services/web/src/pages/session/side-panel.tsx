import type { Item } from "@hlvm/conversation/item";
import type { Session } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { X } from "lucide-react";
import { Button } from "../../parts/button.tsx";
import { Icon } from "../../parts/icon.tsx";
import { ChangesPanel } from "./changes-panel.tsx";
import { ContextPanel } from "./context-panel.tsx";
import { PeoplePanel } from "./people-panel.tsx";
import styles from "./session.module.css";

const PANELS = ["changes", "context", "people"] as const;
const NAMES = { changes: "Changes", context: "Context", people: "People" } as const;

interface SidePanelProps {
  readonly session: Session;
  readonly panel: string;
  readonly items: readonly Item[];
  readonly onPanel: (panel: string) => void;
  /** The session has changed, and is to be read again. */
  readonly onChanged: () => void;
}

/** What belongs to a session and is not said in it. Its tab stands in the address. */
export function SidePanel({ session, panel, items, onPanel, onChanged }: SidePanelProps) {
  const { sessionId } = session;
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
              {NAMES[name]}
            </button>
          ))}
        </div>
        <Button look="bare" aria-label="Close the side panel" onClick={() => onPanel("")}>
          <Icon of={X} />
        </Button>
      </div>
      <div className={styles.panelBody} role="tabpanel" aria-label={panel} tabIndex={0}>
        {panel === "people" ? (
          <PeoplePanel session={session} onChanged={onChanged} />
        ) : panel === "context" ? (
          <ContextPanel sessionId={sessionId} version={version} />
        ) : (
          <ChangesPanel sessionId={sessionId} version={version} />
        )}
      </div>
    </section>
  );
}
