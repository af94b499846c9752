import { timestampDate } from "@bufbuild/protobuf/wkt";
import { useVirtualizer } from "@tanstack/react-virtual";
import type { LucideIcon } from "lucide-react";
import { useEffect, useRef, type ReactNode } from "react";
import { Icon } from "../../parts/icon.tsx";
import styles from "./memory.module.css";

const ESTIMATED_HEIGHT = 32;
const ROWS_BEYOND = 12;
/** With so few rows below, those behind them are asked for. */
const ROWS_LEFT = 20;
const TIME = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", hour12: false });
const DATE = new Intl.DateTimeFormat("en", { day: "numeric", month: "short" });
const DAY = new Intl.DateTimeFormat("en", { weekday: "long", day: "numeric", month: "short" });
const FULL_DAY = new Intl.DateTimeFormat("en", { weekday: "long", day: "numeric", month: "short", year: "numeric" });

export interface MemoryRow {
  readonly key: string;
  readonly at: Parameters<typeof timestampDate>[0] | undefined;
  readonly icon: LucideIcon;
  readonly what: string;
  readonly text: ReactNode;
  readonly scope: string;
  readonly origin: string;
  readonly by: string;
  readonly isChosen: boolean;
  readonly onOpen: () => void;
}

interface MemoryListProps {
  readonly label: string;
  readonly rows: readonly MemoryRow[];
  /** In an order of their own, and not by day. */
  readonly isRanked?: boolean;
  readonly hasOlder: boolean;
  readonly onOlder: () => void;
}

interface Entry {
  readonly key: string;
  readonly day?: string;
  readonly count?: number;
  readonly row?: MemoryRow;
}

/** Rows by day, the newest on top; those on the screen alone are there, and older ones come as one scrolls. */
export function MemoryList({ label, rows, isRanked = false, hasOlder, onOlder }: MemoryListProps) {
  const scroll = useRef<HTMLDivElement>(null);
  const entries = isRanked ? rows.map((row): Entry => ({ key: row.key, row })) : byDay(rows, new Date());
  const list = useVirtualizer({
    count: entries.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => ESTIMATED_HEIGHT,
    getItemKey: (index) => entries[index]!.key,
    overscan: ROWS_BEYOND,
  });
  const shown = list.getVirtualItems();
  const left = entries.length - 1 - (shown.at(-1)?.index ?? 0);
  useEffect(() => {
    if (hasOlder && left < ROWS_LEFT) onOlder();
  }, [hasOlder, left, onOlder]);
  return (
    <div ref={scroll} className={styles.scroll} tabIndex={0} role="region" aria-label={label}>
      <div className={styles.head} aria-hidden="true">
        <span />
        <span>Time</span>
        <span>What</span>
        <span>Fact</span>
        <span>Scope</span>
        <span>Origin</span>
        <span>By</span>
      </div>
      <div className={styles.rows} style={{ height: list.getTotalSize() }}>
        {shown.map(({ key, index, start }) => (
          <div
            key={key}
            data-index={index}
            ref={list.measureElement}
            className={styles.placed}
            style={{ transform: `translateY(${start}px)` }}
          >
            <EntryView entry={entries[index]!} times={isRanked ? DATE : TIME} />
          </div>
        ))}
      </div>
    </div>
  );
}

function EntryView({ entry: { day, count, row }, times }: { readonly entry: Entry; readonly times: Intl.DateTimeFormat }) {
  if (row === undefined)
    return (
      <div className={styles.day}>
        <h2>{day}</h2>
        <span>{count}</span>
      </div>
    );
  const { at, icon, what, text, scope, origin, by, isChosen, onOpen } = row;
  const date = at === undefined ? undefined : timestampDate(at);
  return (
    <button type="button" data-row className={styles.row} aria-current={isChosen ? "true" : undefined} onClick={onOpen}>
      <Icon of={icon} />
      <time dateTime={date?.toISOString()} title={date?.toLocaleString()}>
        {date === undefined ? "" : times.format(date)}
      </time>
      <span className={styles.what}>{what}</span>
      <span className={styles.text}>{text}</span>
      <span>{scope}</span>
      <span>{origin}</span>
      <span>{by}</span>
    </button>
  );
}

function byDay(rows: readonly MemoryRow[], now: Date): Entry[] {
  const days = Map.groupBy(rows, ({ at }) => (at === undefined ? "" : dayName(timestampDate(at), now)));
  return [...days].flatMap(([day, members]): Entry[] => [
    { key: `day ${day}`, day, count: members.length },
    ...members.map((row) => ({ key: row.key, row })),
  ]);
}

/** `Today, Nov 24`, `Friday, Nov 20`; of another year with that. */
function dayName(date: Date, now: Date): string {
  const name = (date.getFullYear() === now.getFullYear() ? DAY : FULL_DAY).format(date);
  const isDay = (before: number): boolean =>
    date.toDateString() === new Date(now.getFullYear(), now.getMonth(), now.getDate() - before).toDateString();
  return isDay(0) ? `Today, ${DATE.format(date)}` : isDay(1) ? `Yesterday, ${DATE.format(date)}` : name;
}
