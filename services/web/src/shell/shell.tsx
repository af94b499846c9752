import { lazy, Suspense, useEffect, useState } from "react";
import { Link, Route, Switch, useLocation } from "wouter";
import { Empty } from "../parts/empty.tsx";
import { Icon } from "../parts/icon.tsx";
import { Skeleton } from "../parts/skeleton.tsx";
import { useLists } from "../store/list-store.ts";
import { usePage } from "../store/page-context.ts";
import parts from "../parts/parts.module.css";
import { DialogContext, type ShellDialog } from "./dialog-context.ts";
import { PLACES } from "./places.ts";
import styles from "./shell.module.css";
import { useShellKeys } from "./use-shell-keys.ts";

const SessionsPage = lazy(async () => ({ default: (await import("../pages/sessions/sessions-page.tsx")).SessionsPage }));
const SessionPage = lazy(async () => ({ default: (await import("../pages/session/session-page.tsx")).SessionPage }));
const ApprovalsPage = lazy(async () => ({ default: (await import("../pages/approvals/approvals-page.tsx")).ApprovalsPage }));
const MemoryPage = lazy(async () => ({ default: (await import("../pages/memory/memory-page.tsx")).MemoryPage }));
const AuditPage = lazy(async () => ({ default: (await import("../pages/audit/audit-page.tsx")).AuditPage }));
const CostPage = lazy(async () => ({ default: (await import("../pages/cost/cost-page.tsx")).CostPage }));
const ModelsPage = lazy(async () => ({ default: (await import("../pages/models/models-page.tsx")).ModelsPage }));
const PeoplePage = lazy(async () => ({ default: (await import("../pages/people/people-page.tsx")).PeoplePage }));
const DevicePage = lazy(async () => ({ default: (await import("../pages/device/device-page.tsx")).DevicePage }));
const TokensPage = lazy(async () => ({ default: (await import("../pages/settings/tokens-page.tsx")).TokensPage }));
const SettingsPage = lazy(async () => ({ default: (await import("../pages/settings/settings-page.tsx")).SettingsPage }));

const palette = async () => ({ default: (await import("./palette.tsx")).Palette });
const Palette = lazy(palette);
const KeysDialog = lazy(async () => ({ default: (await import("./keys-dialog.tsx")).KeysDialog }));

/** After what is looked at has been painted. */
const PALETTE_MILLISECONDS = 1_500;

/** The rail, and the page that the address names. */
export function Shell() {
  const [dialog, setDialog] = useState<ShellDialog | undefined>(undefined);
  useShellKeys(setDialog);
  // What is told late of the one before must not close the one that took its place.
  const close = (closed: ShellDialog) => (): void => setDialog((open) => (open === closed ? undefined : open));
  // There by the time that somebody types into it. Where it could not be had yet, opening it asks again.
  useEffect(() => {
    const timer = setTimeout(() => void palette().catch(() => undefined), PALETTE_MILLISECONDS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <DialogContext value={setDialog}>
      <div className={styles.shell}>
        <a className={styles.skip} href="#content">
          Skip to content
        </a>
        <Rail />
        <Suspense fallback={<Skeleton rows={6} />}>
          <Switch>
            <Route path="/">
              <SessionsPage />
            </Route>
            <Route path="/s/:id">{({ id }) => <SessionPage key={id} sessionId={id} />}</Route>
            <Route path="/approvals/:id?">{({ id }) => <ApprovalsPage approvalId={id} />}</Route>
            <Route path="/memory/:view?">{({ view }) => <MemoryPage view={view} />}</Route>
            <Route path="/audit">
              <AuditPage />
            </Route>
            <Route path="/cost">
              <CostPage />
            </Route>
            <Route path="/models">
              <ModelsPage />
            </Route>
            <Route path="/people">
              <PeoplePage />
            </Route>
            <Route path="/device">
              <DevicePage />
            </Route>
            <Route path="/settings/tokens">
              <TokensPage />
            </Route>
            <Route path="/settings">
              <SettingsPage />
            </Route>
            <Route>
              <main id="content">
                <Empty title="There is nothing at this address">
                  <Link href="/">All sessions</Link>
                </Empty>
              </main>
            </Route>
          </Switch>
        </Suspense>
        <Suspense fallback={null}>
          {dialog === "palette" ? (
            <Palette onClose={close("palette")} />
          ) : dialog === "keys" ? (
            <KeysDialog onClose={close("keys")} />
          ) : null}
        </Suspense>
      </div>
    </DialogContext>
  );
}

/** A phone's bar has no room for them; the palette leads there. */
const WIDE_ONLY: ReadonlySet<string> = new Set(["/cost", "/people"]);

function Rail() {
  const [location] = useLocation();
  const { approvals } = useLists(usePage().lists);
  const waiting = approvals?.length ?? 0;
  return (
    <nav className={styles.rail} aria-label="Places">
      <span className={styles.mark} aria-hidden="true">
        H
      </span>
      <ul>
        {PLACES.map(({ path, name, icon, key }) => {
          const isHere = path === "/" ? location === "/" || location.startsWith("/s/") : location.startsWith(path);
          const count = path === "/approvals" ? waiting : 0;
          return (
            <li key={path} className={WIDE_ONLY.has(path) ? styles.wideOnly : undefined}>
              <Link href={path} className={styles.entry} aria-current={isHere ? "page" : undefined} title={`${name} (g ${key})`}>
                <Icon of={icon} size={18} />
                <span className={styles.name}>{name}</span>
                {count === 0 ? null : (
                  <span className={styles.count}>
                    {" "}
                    {count}
                    <span className={parts.visuallyHidden}> waiting</span>
                  </span>
                )}
              </Link>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}
