import type { Session } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { CircleCheck } from "lucide-react";
import { useDeferredValue, useState } from "react";
import { Link, useSearchParams } from "wouter";
import { useCall } from "../../api/use-call.ts";
import { Button } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import parts from "../../parts/parts.module.css";
import { RelativeTime } from "../../parts/relative-time.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { StateMark } from "../../parts/state-mark.tsx";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import { costWord, folderName, personName, sessionState } from "../../parts/words.ts";
import { PageFrame } from "../../shell/page-frame.tsx";
import { useLists } from "../../store/list-store.ts";
import { usePage } from "../../store/page-context.ts";
import { groupSessions } from "./group-sessions.ts";
import { RowActions } from "./row-actions.tsx";
import { commandOf, FilterBar, filtersOf, requestOf } from "./session-filters.tsx";
import { StartComposer } from "./start-composer.tsx";
import styles from "./sessions.module.css";

const EXAMPLES = ["What does this repository do?", "Which parts have no tests?", "Plan how to split the largest file"];
const FOUND_LIMIT = 100;
const MOST_WORKSPACES = 20;

/** Every session that one may see, and the field that begins another. */
export function SessionsPage() {
  const { clients, lists } = usePage();
  const { sessions, approvals, hasMoreSessions } = useLists(lists);
  const [search, setSearch] = useSearchParams();
  const [prompt, setPrompt] = useState(search.get("prompt") ?? "");
  const filters = filtersOf(search);
  const asked = new Set(approvals?.map(({ sessionId }) => sessionId));
  const text = useDeferredValue(filters.text);
  const wanted = requestOf({ ...filters, text });
  const isFiltered = Object.values(wanted).some((value) => value !== "" && value !== 0);
  const found = useCall(Object.values(wanted).join(" "), async (signal) =>
    isFiltered ? await clients.sessions.listSessions({ ...wanted, limit: FOUND_LIMIT }, { signal }) : undefined,
  );
  const shown = isFiltered ? found.value?.sessions : sessions;
  const excerpts = new Map(found.value?.sessions.map(({ sessionId }, at) => [sessionId, found.value?.excerpts[at] ?? ""]));
  const workspaces = [...new Set(sessions?.map(({ workspace }) => workspace))].slice(0, MOST_WORKSPACES);
  const set = (name: string, value: string): void =>
    setSearch(
      (before) => {
        if (value === "") before.delete(name);
        else before.set(name, value);
        return before;
      },
      { replace: true },
    );
  return (
    <PageFrame title="Sessions" command={commandOf(filters)}>
      <StartComposer workspaces={workspaces} prompt={prompt} onPrompt={setPrompt} />
      <FilterBar filters={filters} workspaces={workspaces} onSet={set} />
      <TroubleNote trouble={isFiltered ? found.trouble : undefined} onAgain={found.again} />
      {shown === undefined ? (
        <Skeleton rows={6} />
      ) : shown.length === 0 ? (
        <NoSessions isFiltered={isFiltered} onExample={setPrompt} />
      ) : (
        <SessionTable sessions={shown} asked={asked} excerpts={isFiltered ? excerpts : new Map()} onChanged={found.again} />
      )}
      {hasMoreSessions && !isFiltered ? (
        <Empty title="There are older ones: search for them" command="hlvm session list --limit 500" />
      ) : null}
    </PageFrame>
  );
}

interface SessionTableProps {
  readonly sessions: readonly Session[];
  readonly asked: ReadonlySet<string>;
  readonly excerpts: ReadonlyMap<string, string>;
  readonly onChanged: () => void;
}

function SessionTable({ sessions, asked, excerpts, onChanged }: SessionTableProps) {
  return (
    <div className={styles.table}>
      <div className={styles.head} aria-hidden="true">
        <span />
        <span>Title</span>
        <span>State</span>
        <span>Workspace</span>
        <span>Owner</span>
        <span>Model</span>
        <span className={styles.right}>Cost</span>
        <span className={styles.right}>Last event</span>
      </div>
      {groupSessions(sessions, asked, new Date()).map((group) => [
        <div key={group.name} className={styles.group}>
          <h2>{group.name}</h2>
          <span>{group.sessions.length}</span>
        </div>,
        ...group.sessions.map((session) => (
          <SessionRow
            key={session.sessionId}
            session={session}
            isAsked={asked.has(session.sessionId)}
            excerpt={excerpts.get(session.sessionId) ?? ""}
            onChanged={onChanged}
          />
        )),
      ])}
    </div>
  );
}

interface SessionRowProps {
  readonly session: Session;
  readonly isAsked: boolean;
  readonly excerpt: string;
  readonly onChanged: () => void;
}

function SessionRow({ session, isAsked, excerpt, onChanged }: SessionRowProps) {
  const [hasFocus, setHasFocus] = useState(false);
  const { sessionId, title, workspace, owner, model, cost, updatedAt } = session;
  const { tone, word, isLive } = sessionState(session, isAsked);
  const isCalm = tone === "ok" || tone === "plain";
  return (
    <div className={styles.row} onFocus={() => setHasFocus(true)} onBlur={() => setHasFocus(false)}>
      <StateMark tone={isCalm ? "plain" : tone} icon={tone === "ok" ? CircleCheck : undefined} isLive={isLive} />
      <span className={styles.title}>
        <Link href={`/s/${sessionId}`} data-row>
          {title}
        </Link>
        {excerpt === "" ? null : <span className={styles.excerpt}>{excerpt}</span>}
      </span>
      <span className={isCalm ? undefined : `${parts.state} ${parts[tone]}`}>{word}</span>
      <span title={workspace}>{folderName(workspace)}</span>
      <span title={personName(owner)}>{personName(owner).split("@")[0]}</span>
      <span title={model}>{model.split("/").at(-1)}</span>
      <span className={styles.right}>{costWord(cost)}</span>
      <span className={styles.right}>
        <RelativeTime at={updatedAt} isShort />
      </span>
      <RowActions session={session} hasFocus={hasFocus} onChanged={onChanged} />
    </div>
  );
}

function NoSessions({ isFiltered, onExample }: { readonly isFiltered: boolean; readonly onExample: (prompt: string) => void }) {
  if (isFiltered) return <Empty title="No session fits" />;
  return (
    <Empty title="Nothing was asked yet" command='hlvm ask "What does this repository do?"'>
      <p>Say above what is to be done, and in which folder. Three that only read:</p>
      <div className={styles.examples}>
        {EXAMPLES.map((example) => (
          <Button key={example} onClick={() => onExample(example)}>
            {example}
          </Button>
        ))}
      </div>
    </Empty>
  );
}
