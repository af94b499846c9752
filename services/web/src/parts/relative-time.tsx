import { timestampDate, type Timestamp } from "@bufbuild/protobuf/wkt";
import { useSyncExternalStore } from "react";

const TICK_MILLISECONDS = 10_000;
const UNITS = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "min"],
] as const;

let now = Date.now();
const listeners = new Set<() => void>();
setInterval(() => {
  now = Date.now();
  for (const listener of listeners) listener();
}, TICK_MILLISECONDS);

function useNow(): number {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => now,
    () => now,
  );
}

/** How long ago, `now`, `4 min ago`, or how long until, `in 3 h`; the whole time on hover and in the markup. */
export function RelativeTime({ at, isShort = false }: { readonly at: Timestamp | Date | undefined; readonly isShort?: boolean }) {
  const current = useNow();
  if (at === undefined) return null;
  const date = at instanceof Date ? at : timestampDate(at);
  const ahead = date.getTime() - current;
  // What has just happened is ahead of a clock that ticks so seldom.
  const seconds = (ahead > 0 && ahead <= TICK_MILLISECONDS ? 0 : ahead) / 1_000;
  return (
    <time dateTime={date.toISOString()} title={date.toLocaleString()}>
      {seconds > 0 ? `in ${spanText(seconds) || "under a minute"}` : pastText(spanText(-seconds), isShort)}
    </time>
  );
}

function pastText(span: string, isShort: boolean): string {
  if (span === "") return "now";
  return isShort ? span : `${span} ago`;
}

/** `4 min`, `3 h`, `2 d`; empty below a minute. */
export function spanText(seconds: number): string {
  const [size, unit] = UNITS.find(([size]) => seconds >= size) ?? [0, ""];
  return size === 0 ? "" : `${Math.floor(seconds / size)} ${unit}`;
}
