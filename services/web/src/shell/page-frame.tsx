import { useEffect, useSyncExternalStore, type ReactNode } from "react";
import { usePage } from "../store/page-context.ts";
import styles from "./shell.module.css";

interface PageFrameProps {
  readonly title: string;
  /** Before the title. */
  readonly above?: ReactNode;
  /** Beside the title. */
  readonly beside?: ReactNode;
  readonly children: ReactNode;
}

/** The bar at the top, whether the page is up to date, and what the page is. */
export function PageFrame({ title, above, beside, children }: PageFrameProps) {
  const { watch } = usePage();
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
          {status.state === "live" ? (
            <span className={styles.live}>
              <span className={styles.dot} />
              Live
            </span>
          ) : null}
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
