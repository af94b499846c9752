import { Search } from "lucide-react";
import { useContext, useEffect, useSyncExternalStore, type ReactNode } from "react";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { usePage } from "../store/page-context.ts";
import { Account } from "./account.tsx";
import { CommandMenu } from "./command-menu.tsx";
import { DialogContext } from "./dialog-context.ts";
import styles from "./shell.module.css";

interface PageFrameProps {
  readonly title: string;
  /** Before the title. */
  readonly above?: ReactNode;
  /** Beside the title. */
  readonly beside?: ReactNode;
  /** The `hlvm` command that does the same as the page. */
  readonly command?: string;
  readonly children: ReactNode;
}

/** The bar at the top, whether the page is up to date, and what the page is. */
export function PageFrame({ title, above, beside, command, children }: PageFrameProps) {
  const { watch, isTeam } = usePage();
  const openDialog = useContext(DialogContext);
  const status = useSyncExternalStore(watch.onStatus, watch.status);
  useEffect(() => {
    document.title = `${title} · HLVM`;
  }, [title]);
  return (
    <div className={styles.place}>
      <header>
        <div className={styles.top}>
          <div className={styles.crumbs}>
            {above}
            <h1 title={title}>{title}</h1>
          </div>
          {beside}
          {command === undefined ? null : <CommandMenu command={command} />}
          {isTeam ? <Account /> : null}
          {status.state === "live" ? (
            <span className={styles.live}>
              <span className={styles.dot} />
              Live
            </span>
          ) : null}
          <Button className={styles.goTo} aria-keyshortcuts="Control+K" onClick={() => openDialog("palette")}>
            <Icon of={Search} size={14} />
            <span>Go to or act</span>
            <kbd aria-hidden="true">Ctrl K</kbd>
          </Button>
        </div>
        {status.state === "lost" ? (
          <p className={styles.lost} role="status">
            Reconnecting; this is as of {status.since.toLocaleTimeString()}
          </p>
        ) : null}
      </header>
      <main id="content" className={styles.body}>
        {children}
      </main>
    </div>
  );
}
