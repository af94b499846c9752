import type { Item } from "@hlvm/conversation/item";
import type { Session } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { SessionRight } from "@hlvm/proto/hlvm/session/v1/sharing_pb";
import { PanelRight } from "lucide-react";
import { lazy, Suspense, useCallback, useEffect, useMemo, useRef, useSyncExternalStore } from "react";
import { Link, useSearchParams } from "wouter";
import { Button } from "../../parts/button.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { StateMark } from "../../parts/state-mark.tsx";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import { folderName, personName, sessionState, stopState } from "../../parts/words.ts";
import { PageFrame } from "../../shell/page-frame.tsx";
import { SessionStore, type SessionView } from "../../store/session-store.ts";
import { usePage } from "../../store/page-context.ts";
import { CommentForm } from "./comment-form.tsx";
import { ConversationList, type ConversationHandle } from "./conversation-list.tsx";
import { Outline } from "./outline.tsx";
import { SessionMenu } from "./session-menu.tsx";
import { SteerComposer } from "./steer-composer.tsx";
import styles from "./session.module.css";

const SidePanel = lazy(async () => ({ default: (await import("./side-panel.tsx")).SidePanel }));

/** One session: what was said and done in it, live, and the field to go on with. */
export function SessionPage({ sessionId }: { readonly sessionId: string }) {
  const { clients, watch } = usePage();
  const store = useMemo(() => new SessionStore(sessionId, clients, watch), [sessionId, clients, watch]);
  useEffect(() => store.open(), [store]);
  const view = useSyncExternalStore(store.subscribe, store.view);
  const conversation = useRef<ConversationHandle>(null);
  const [search, setSearch] = useSearchParams();
  const panel = search.get("panel");
  const show = useCallback((key: string) => conversation.current?.show(key), []);
  const step = useCallback((by: 1 | -1) => conversation.current?.step(by), []);
  const { session, items, trouble, isLoaded, hasEarlier } = view;
  const { tone, word, isLive } = stateOf(view, items);
  const showPanel = (name: string): void => setSearch(name === "" ? {} : { panel: name });
  return (
    <PageFrame
      title={session?.title ?? "Session"}
      command={`hlvm session show ${sessionId}`}
      above={
        <>
          <Link href="/" data-place>
            Sessions
          </Link>
          <span aria-hidden="true" data-place>
            /
          </span>
          {session === undefined ? null : (
            <>
              <span title={session.workspace} data-place>
                {folderName(session.workspace)}
              </span>
              <span aria-hidden="true" data-place>
                /
              </span>
            </>
          )}
        </>
      }
      beside={
        isLoaded ? (
          <>
            <span role="status">
              <StateMark tone={tone} isLive={isLive}>
                {word}
              </StateMark>
            </span>
            <Button
              data-action="Changes"
              data-key="1"
              aria-expanded={panel !== null}
              onClick={() => showPanel(panel === null ? "changes" : "")}
            >
              <Icon of={PanelRight} size={14} /> Changes
            </Button>
            {session === undefined ? null : <SessionMenu session={session} onChanged={() => void store.load()} />}
          </>
        ) : null
      }
    >
      <div className={panel === null ? styles.session : `${styles.session} ${styles.withPanel}`}>
        <Outline sessionId={sessionId} items={items} todo={view.todo} onChoose={show} onStep={step} />
        <div className={styles.talk}>
          {isLoaded ? (
            <ConversationList
              items={items}
              handle={conversation}
              isThinking={view.isRunning && !isAtWork(items.at(-1))}
              hasEarlier={hasEarlier}
              onEarlier={store.loadEarlier}
            />
          ) : trouble === undefined ? (
            <Skeleton rows={5} />
          ) : (
            <div className={styles.scroll}>
              <TroubleNote trouble={trouble} onAgain={() => void store.load()} />
            </div>
          )}
          {session !== undefined && session.right < SessionRight.DRIVE ? (
            <Looking session={session} />
          ) : isLoaded ? (
            <SteerComposer sessionId={sessionId} view={view} />
          ) : null}
        </div>
        {panel === null || session === undefined ? null : (
          <Suspense fallback={<Skeleton rows={5} />}>
            <SidePanel session={session} panel={panel} items={items} onPanel={showPanel} onChanged={() => void store.load()} />
          </Suspense>
        )}
      </div>
    </PageFrame>
  );
}

/** Instead of the field to go on with, for whom a session is shared with to look at. */
function Looking({ session: { sessionId, owner, right } }: { readonly session: Session }) {
  return (
    <div className={styles.below}>
      <p className={styles.note}>{personName(owner)} shares this session with you to look at. To go on with it, fork it.</p>
      {right === SessionRight.COMMENT ? <CommentForm sessionId={sessionId} /> : null}
    </div>
  );
}

/** Whether the last thing to be seen goes on by itself, or waits for somebody. */
function isAtWork(item: Item | undefined): boolean {
  if (item?.kind === "assistant" || item?.kind === "thinking") return item.isOpen;
  if (item?.kind === "approval") return item.state === "pending";
  if (item?.kind === "info") return item.topic === "queue";
  return item?.kind === "tools" && item.calls.some(({ durationMilliseconds }) => durationMilliseconds === undefined);
}

function stateOf({ isRunning, run, session }: SessionView, items: readonly Item[]) {
  const isAsked = isRunning && items.some((item) => item.kind === "approval" && item.state === "pending");
  if (run?.stopReason !== undefined) return stopState(run.stopReason);
  const runningRunId = isRunning ? "running" : "";
  return sessionState({ runningRunId, lastStopReason: session?.lastStopReason ?? 0 }, isAsked);
}
