import { enumWord } from "@hlvm/ndjson/enum-word";
import { StopReason, StopReasonSchema } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { ArchiveFilter, SessionState, WhoseSessions } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { Search } from "lucide-react";
import { Button } from "../../parts/button.tsx";
import { Icon } from "../../parts/icon.tsx";
import table from "../../parts/table.module.css";
import { folderName } from "../../parts/words.ts";
import { usePage } from "../../store/page-context.ts";
import styles from "./sessions.module.css";

const WHOSE = [
  { name: "mine", word: "Mine", whose: WhoseSessions.MINE },
  { name: "shared", word: "Shared with me", whose: WhoseSessions.SHARED_WITH_ME },
] as const;
/** As `hlvm session list --state` has them. */
const STATES = [
  "running",
  "new",
  ...Object.values(StopReasonSchema.value).flatMap(({ number }) => (number === 0 ? [] : [stopWord(number)])),
];

/** What the address says of which sessions are wanted. */
export interface SessionFilters {
  readonly text: string;
  readonly whose: string;
  readonly state: string;
  readonly workspace: string;
  readonly isArchived: boolean;
}

export function filtersOf(search: URLSearchParams): SessionFilters {
  const given = (name: string): string => search.get(name) ?? "";
  const state = STATES.includes(given("state")) ? given("state") : "";
  return { text: given("text"), whose: given("whose"), state, workspace: given("workspace"), isArchived: given("archived") === "only" };
}

/** The filters as the contract has them. */
export function requestOf({ text, whose, state, workspace, isArchived }: SessionFilters) {
  const reason = StopReasonSchema.values.find(({ number }) => stopWord(number) === state)?.number;
  const isReason = reason !== undefined && reason !== 0;
  return {
    text: text.trim(),
    workspace,
    archived: isArchived ? ArchiveFilter.ONLY : ArchiveFilter.UNSPECIFIED,
    whose: WHOSE.find(({ name }) => name === whose)?.whose ?? WhoseSessions.UNSPECIFIED,
    state: state === "running" ? SessionState.RUNNING : state === "new" ? SessionState.NEW : SessionState.UNSPECIFIED,
    lastStopReason: isReason ? (reason as StopReason) : StopReason.UNSPECIFIED,
  };
}

/** The same on the command line. */
export function commandOf({ text, whose, state, workspace, isArchived }: SessionFilters): string {
  const words = [
    "hlvm session list",
    ...(text.trim() === "" ? [] : [`--text ${JSON.stringify(text.trim())}`]),
    ...WHOSE.filter(({ name }) => name === whose).map(({ name }) => `--${name}`),
    ...(state === "" ? [] : [`--state ${state}`]),
    ...(workspace === "" ? [] : [`--workspace ${JSON.stringify(workspace)}`]),
    ...(isArchived ? ["--archived"] : []),
  ];
  return words.join(" ");
}

interface FilterBarProps {
  readonly filters: SessionFilters;
  readonly workspaces: readonly string[];
  readonly onSet: (name: string, value: string) => void;
}

export function FilterBar({ filters: { text, whose, state, workspace, isArchived }, workspaces, onSet }: FilterBarProps) {
  const { isTeam } = usePage();
  return (
    <div className={styles.filters}>
      <Button look="bare" aria-pressed={!isArchived} onClick={() => onSet("archived", "")}>
        Current
      </Button>
      <Button look="bare" aria-pressed={isArchived} onClick={() => onSet("archived", "only")}>
        Archived
      </Button>
      {isTeam
        ? WHOSE.map(({ name, word }) => (
            <Button key={word} look="bare" aria-pressed={whose === name} onClick={() => onSet("whose", whose === name ? "" : name)}>
              {word}
            </Button>
          ))
        : null}
      <select className={table.input} aria-label="State" value={state} onChange={(event) => onSet("state", event.target.value)}>
        <option value="">any state</option>
        {STATES.map((one) => (
          <option key={one} value={one}>
            {one.replaceAll("_", " ")}
          </option>
        ))}
      </select>
      {workspaces.length < 2 && workspace === "" ? null : (
        <select className={table.input} aria-label="Folder" value={workspace} onChange={(event) => onSet("workspace", event.target.value)}>
          <option value="">any folder</option>
          {[...new Set([...workspaces, ...(workspace === "" ? [] : [workspace])])].map((one) => (
            <option key={one} value={one}>
              {folderName(one)}
            </option>
          ))}
        </select>
      )}
      <label className={styles.search}>
        <Icon of={Search} size={14} />
        <input
          data-filter
          type="search"
          placeholder="Title or text"
          aria-label="Search in titles and texts"
          value={text}
          onChange={(event) => onSet("text", event.target.value)}
        />
      </label>
    </div>
  );
}

function stopWord(reason: number): string {
  return enumWord(StopReasonSchema, reason);
}
