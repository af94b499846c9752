import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { Link, useSearchParams } from "wouter";
import { Skeleton } from "../../parts/skeleton.tsx";
import { PageFrame } from "../../shell/page-frame.tsx";
import { useLists } from "../../store/list-store.ts";
import { usePage } from "../../store/page-context.ts";
import { commandOf } from "./command-of.ts";
import { FactsView } from "./facts-view.tsx";
import { InboxView } from "./inbox-view.tsx";
import { LiveView } from "./live-view.tsx";
import { FolderSelect, MemoryFilters } from "./memory-filters.tsx";
import {
  addressWith,
  flagsOf,
  MEMORY_VIEWS,
  questionOfAddress,
  viewOfAddress,
  type MemoryQuestion,
  type MemoryView,
} from "./memory-question.ts";
import { OpenedFact } from "./opened-fact.tsx";
import { PulseView } from "./pulse-view.tsx";
import { RiverView } from "./river-view.tsx";
import { SearchView } from "./search-view.tsx";
import { ThreadView } from "./thread-view.tsx";
import { WriteFact } from "./write-fact.tsx";
import styles from "./memory.module.css";

const MOST_FOLDERS = 20;

export interface MemoryViewProps {
  readonly question: MemoryQuestion;
  readonly withEnded: boolean;
  /** The words to search for. */
  readonly query: string;
  readonly project: string;
  /** Another one whenever something was changed here. */
  readonly version: number;
  /** The fact that is open; empty where none is. */
  readonly opened: string;
  readonly onOpen: (factId: string) => void;
}

const SourcesView = lazy(async () => ({ default: (await import("./sources-view.tsx")).SourcesView }));
const RecallView = lazy(async () => ({ default: (await import("./recall-view.tsx")).RecallView }));
const WikiView = lazy(async () => ({ default: (await import("./wiki-view.tsx")).WikiView }));
const VIEWS = {
  live: LiveView,
  pulse: PulseView,
  river: RiverView,
  search: SearchView,
  facts: FactsView,
  inbox: InboxView,
  sources: SourcesView,
  thread: ThreadView,
  recall: RecallView,
  wiki: WikiView,
} as const;

/** These have no filters by what a fact is. */
const UNFILTERED: ReadonlySet<MemoryView> = new Set(["search", "pulse", "inbox", "sources", "thread", "recall", "wiki"]);
const SEARCHES: Readonly<Partial<Record<MemoryView, string>>> = {
  search: "Search what is remembered",
  sources: "Search sessions with other agents",
  thread: "A path, a name, or the id of a fact or a session",
  recall: "Words of a question to memory",
  wiki: "Search the wiki",
};

/** What was open is none of what is searched for next. */
const CLOSED = { session: "", recall: "", page: "", revision: "" };

/** What is remembered: as it is learnt, by day, by words, as a list, and what waits to be accepted; one fact beside it with its history. What narrows it is the address. */
export function MemoryPage({ view: named }: { readonly view: string | undefined }) {
  const view = viewOfAddress(named);
  const [search, setSearch] = useSearchParams();
  const [version, setVersion] = useState(0);
  const { sessions } = useLists(usePage().lists);
  const folders = [...new Set(sessions?.map(({ workspace }) => workspace))].filter((folder) => folder !== "").slice(0, MOST_FOLDERS);
  // What was learnt in a folder is found there alone; the one that was worked in last is the likeliest, and does not change while one looks.
  const likeliest = useRef<string | undefined>(undefined);
  if (sessions !== undefined) likeliest.current ??= folders[0] ?? "";
  const project = search.get("project") ?? likeliest.current;
  const question = questionOfAddress(search);
  const withEnded = search.get("ended") === "1";
  const query = search.get("q") ?? "";
  const opened = search.get("fact") ?? "";
  const set = (changes: Readonly<Record<string, string>>, replace = true): void =>
    setSearch((before) => addressWith(changes, before), { replace });
  const View = VIEWS[view];
  const label = SEARCHES[view];
  const asked = { question, withEnded, query, page: search.get("page") ?? "" };
  const command = opened === "" ? commandOf(view, asked) : `hlvm memory show ${opened}`;
  return (
    <PageFrame title={MEMORY_VIEWS[view]} above={<span data-place>Memory /</span>} command={command}>
      <div className={styles.page}>
        <Tabs view={view} search={search} />
        {UNFILTERED.has(view) ? (
          <div className={styles.filters}>
            {label === undefined ? null : <SearchField label={label} query={query} onQuery={(q) => set({ ...CLOSED, q })} />}
            {view === "sources" || view === "recall" ? null : (
              <FolderSelect project={project ?? ""} folders={folders} onChange={(folder) => set({ project: folder })} />
            )}
          </div>
        ) : (
          <MemoryFilters
            question={question}
            withEnded={view === "facts" ? withEnded : undefined}
            project={project ?? ""}
            folders={folders}
            onChange={set}
          />
        )}
        <div className={styles.columns} data-open={opened !== ""}>
          <div className={styles.main}>
            {project !== undefined && (view === "search" || view === "facts") ? (
              <WriteFact
                project={project}
                onWritten={(fact) => {
                  setVersion(version + 1);
                  if (view === "facts") set({ fact });
                }}
              />
            ) : null}
            {project === undefined ? (
              <Skeleton rows={8} />
            ) : (
              <Suspense fallback={<Skeleton rows={8} />}>
                <View
                  key={view === "live" ? flagsOf(question) + project : view}
                  question={question}
                  withEnded={withEnded}
                  query={query}
                  project={project}
                  version={version}
                  opened={opened}
                  onOpen={(fact) => set({ fact })}
                />
              </Suspense>
            )}
          </div>
          {opened === "" || project === undefined ? null : (
            <OpenedFact
              key={`${opened} ${project}`}
              factId={opened}
              project={project}
              onClose={() => set({ fact: "" })}
              onChanged={(fact) => {
                setVersion(version + 1);
                set({ fact });
              }}
            />
          )}
        </div>
      </div>
    </PageFrame>
  );
}

/** The filters and the opened fact go along. */
function Tabs({ view, search }: { readonly view: MemoryView; readonly search: URLSearchParams }) {
  const suffix = search.size === 0 ? "" : `?${search.toString()}`;
  return (
    <nav className={styles.tabs} aria-label="Memory">
      {(Object.keys(MEMORY_VIEWS) as MemoryView[]).map((key) => (
        <Link
          key={key}
          href={`/memory/${key}${suffix}`}
          aria-current={key === view ? "page" : undefined}
          data-action={`Memory: ${MEMORY_VIEWS[key]}`}
          // Where there is no field to search in, this is where one is.
          data-key={key === "search" ? "/" : undefined}
        >
          {MEMORY_VIEWS[key]}
        </Link>
      ))}
    </nav>
  );
}

interface SearchFieldProps {
  readonly label: string;
  readonly query: string;
  readonly onQuery: (query: string) => void;
}

function SearchField({ label, query, onQuery }: SearchFieldProps) {
  const field = useRef<HTMLInputElement>(null);
  // Whoever comes here with words looks at what they find.
  useEffect(() => {
    if (query === "") field.current?.focus();
  }, []);
  return (
    <input
      ref={field}
      className={styles.words}
      type="search"
      aria-label={label}
      placeholder={label}
      value={query}
      onChange={(event) => onQuery(event.target.value)}
      data-filter
    />
  );
}
