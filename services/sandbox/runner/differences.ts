import type { Entry } from "./checkpoint-store.ts";

/** Whether a path holds the same, whatever its times say. */
export function isSame(one: Entry, other: Entry | undefined): boolean {
  if (other === undefined || one.kind !== other.kind || one.content !== other.content || one.mode !== other.mode) return false;
  return one.kind !== "file" || one.content !== "" || one.stamp === other.stamp;
}

export interface Difference {
  readonly path: string;
  /** What a restore would do. */
  readonly action: "ACTION_CHANGE" | "ACTION_CREATE" | "ACTION_DELETE";
}

/** What has to be done to `now` for it to be `target`, by path. */
export function differences(now: ReadonlyMap<string, Entry>, target: ReadonlyMap<string, Entry>): Difference[] {
  const paths = [...new Set([...now.keys(), ...target.keys()])].toSorted();
  return paths.flatMap((path): Difference[] => {
    const [is, was] = [now.get(path), target.get(path)];
    if (is !== undefined && was !== undefined) return isSame(is, was) ? [] : [{ path, action: "ACTION_CHANGE" }];
    return [{ path, action: was === undefined ? "ACTION_DELETE" : "ACTION_CREATE" }];
  });
}
