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
  );
}

/** How long ago, or until: `now`, `4 min`, `3 h`, `2 d`; the whole time on hover and in the markup. */
export function RelativeTime({ at }: { readonly at: Timestamp | Date | undefined }) {
  const current = useNow();
  if (at === undefined) return null;
  const date = at instanceof Date ? at : timestampDate(at);
  return (
    <time dateTime={date.toISOString()} title={date.toLocaleString()}>
      {spanText(Math.abs(current - date.getTime()) / 1_000)}
    </time>
  );
}

export function spanText(seconds: number): string {
  const [size, unit] = UNITS.find(([size]) => seconds >= size) ?? [0, "now"];
  return size === 0 ? unit : `${Math.floor(seconds / size)} ${unit}`;
}
