import { BookOpenText, Brain, Cpu, MessagesSquare, Settings, ShieldCheck, type LucideIcon } from "lucide-react";
import { lazy, Suspense, useEffect } from "react";
import { Link, Route, Switch, useLocation } from "wouter";
import { Empty } from "../parts/empty.tsx";
import { Icon } from "../parts/icon.tsx";
import { Skeleton } from "../parts/skeleton.tsx";
import { SessionPage } from "../pages/session/session-page.tsx";
import { SessionsPage } from "../pages/sessions/sessions-page.tsx";
import { useLists } from "../store/list-store.ts";
import { usePage } from "../store/page-context.ts";
import { readSettings } from "../pages/settings/page-settings.ts";
import parts from "../parts/parts.module.css";
import { isField } from "./is-field.ts";
import styles from "./shell.module.css";

const ApprovalsPage = lazy(async () => ({ default: (await import("../pages/approvals/approvals-page.tsx")).ApprovalsPage }));
const MemoryPage = lazy(async () => ({ default: (await import("../pages/memory/memory-page.tsx")).MemoryPage }));
const AuditPage = lazy(async () => ({ default: (await import("../pages/audit/audit-page.tsx")).AuditPage }));
const ModelsPage = lazy(async () => ({ default: (await import("../pages/models/models-page.tsx")).ModelsPage }));
const SettingsPage = lazy(async () => ({ default: (await import("../pages/settings/settings-page.tsx")).SettingsPage }));

interface Place {
  readonly path: string;
  readonly name: string;
  readonly icon: LucideIcon;
  /** Pressed after `g`. */
  readonly key: string;
}

const PLACES: readonly Place[] = [
  { path: "/", name: "Sessions", icon: MessagesSquare, key: "s" },
  { path: "/approvals", name: "Approvals", icon: ShieldCheck, key: "a" },
  { path: "/memory", name: "Memory", icon: Brain, key: "u" },
  { path: "/audit", name: "Audit", icon: BookOpenText, key: "d" },
  { path: "/models", name: "Models", icon: Cpu, key: "m" },
  { path: "/settings", name: "Settings", icon: Settings, key: "," },
];

const GO_MILLISECONDS = 1_000;

/** The rail, and the page that the address names. */
export function Shell() {
  useGoKeys();
  return (
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
          <Route path="/memory/:view?">
            <MemoryPage />
          </Route>
          <Route path="/audit">
            <AuditPage />
          </Route>
          <Route path="/models">
            <ModelsPage />
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
    </div>
  );
}

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
        {PLACES.map(({ path, name, icon }) => {
          const isHere = path === "/" ? location === "/" || location.startsWith("/s/") : location.startsWith(path);
          const count = path === "/approvals" ? waiting : 0;
          return (
            <li key={path}>
              <Link href={path} className={styles.entry} aria-current={isHere ? "page" : undefined} title={name}>
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

/** `g`, then the letter of a place. Never in a field. */
function useGoKeys(): void {
  const [, navigate] = useLocation();
  useEffect(() => {
    let goAt = -Infinity;
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isField(event.target) || !readSettings().hasKeys) return;
      const place = PLACES.find(({ key }) => key === event.key);
      if (event.timeStamp - goAt < GO_MILLISECONDS && place !== undefined) navigate(place.path);
      goAt = event.key === "g" ? event.timeStamp : -Infinity;
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [navigate]);
}
