import { dirname } from "node:path";
import { lineDiff } from "./line-diff.ts";
import { isHarmlessGitConfig } from "./harmless-git-config.ts";
import { ABSENT, isSame, readEntry, writeEntry, type ProtectedEntry } from "./protected-entry.ts";
import { isProtected, isProtectedName } from "./protected-paths.ts";
import { findNested, takeSnapshot, type ProtectedSnapshot } from "./protected-snapshot.ts";
import { messageOfThrown } from "./failure-of.ts";

/** A change that a command made to a protected path. */
export interface ProtectedChange {
  readonly path: string;
  readonly before: ProtectedEntry;
  readonly after: ProtectedEntry;
  readonly diff: string;
  /** Whether what was there before is there again. */
  readonly restored: boolean;
}

/** Of a repository and its submodules. */
const IN_REPOSITORY = {
  hooks: /(?:^|\/)\.git\/(?:modules\/.+\/)?hooks$/,
  sample: /(?:^|\/)\.git\/(?:modules\/.+\/)?hooks\/[^/]+\.sample$/,
  config: /(?:^|\/)\.git\/(?:modules\/.+\/)?config$/,
};

/** The commands that may write and are under way, by call id. */
const watched = new Set<string>();
/** What the protected paths are to be while they are: as they were before the first of them. */
let baseline: ProtectedSnapshot = new Map();
/** Those of the folders below that were there before the first of them. */
let nested: readonly string[] = [];

/** Notes what stands at the protected paths, before a command that may write. */
export function protect(callId: string): void {
  if (watched.size === 0) {
    nested = findNested();
    baseline = takeSnapshot(baseline, nested);
  }
  watched.add(callId);
}

/** Puts back what has changed at the protected paths and could have something run, or something go elsewhere, outside. */
export function restore(callId: string, keepWatching: boolean): ProtectedChange[] {
  if (!watched.has(callId)) return [];
  if (!keepWatching) watched.delete(callId);
  const now = takeSnapshot(baseline, nested);
  // Without its objects a repository's settings are nothing to bring back, whatever took its place is.
  const isRepositoryGone = baseline.get(".git")?.kind === "folder" && now.get(".git")?.kind !== "folder";
  const paths = [...new Set([...baseline.keys(), ...now.keys()])].sort();
  const changes: ProtectedChange[] = [];
  for (const path of paths) {
    const isOfTheGone = isRepositoryGone && (path === ".git" || path.startsWith(".git/"));
    const [before, after] = [isOfTheGone ? ABSENT : (baseline.get(path) ?? ABSENT), now.get(path) ?? ABSENT];
    if (isOfTheGone) keep(path, ABSENT);
    else if (isHarmless(path, before, after)) keep(path, after);
    if (isSame(before, after) || isHarmless(path, before, after)) continue;
    changes.push({ path, before, after, diff: lineDiff(path, before, after), restored: false });
  }
  const outcomes = putBack(changes);
  // Whatever is there by now is not looked at: another command may have changed it in this moment, and is not done yet.
  for (const { path, after, restored } of outcomes) if (!restored) keep(path, after);
  return outcomes;
}

/** From now on this is how the path is to be. */
function keep(path: string, entry: ProtectedEntry): void {
  if (entry.kind === "absent") baseline.delete(path);
  else baseline.set(path, entry);
}

/** Makes changes again that were put back. @returns why it cannot be done; empty where it was */
export function apply(changes: readonly Pick<ProtectedChange, "path" | "before" | "after">[]): string {
  for (const { path, before } of changes)
    if (!isSame(readEntry(path, undefined), before)) return `${path} has changed since: nothing was done. Make the change again.`;
  try {
    for (const { path, after } of changes) writeEntry(path, after);
    return "";
  } catch (thrown) {
    return messageOfThrown(thrown);
  } finally {
    for (const { path } of changes) acceptChange(path);
  }
}

/** What a call that may write this path has made of it, and of the folders above, is to stay. */
export function acceptChange(path: string): void {
  if (watched.size === 0 || !isProtected(path)) return;
  const now = takeSnapshot(baseline, nested);
  for (let at = path; at !== "."; at = dirname(at)) {
    keep(at, now.get(at) ?? ABSENT);
  }
}

/** New things go from the deepest up, old ones come back from the top down. */
function putBack(changes: readonly ProtectedChange[]): ProtectedChange[] {
  const gone = changes.filter(({ before }) => before.kind === "absent").toReversed();
  const back = changes.filter(({ before }) => before.kind !== "absent");
  const failures = new Map<string, string>();
  for (const { path, before } of [...gone, ...back]) {
    try {
      writeEntry(path, before);
    } catch (thrown) {
      failures.set(path, messageOfThrown(thrown));
    }
  }
  return changes.map((change) => {
    const failure = failures.get(change.path);
    return failure === undefined ? { ...change, restored: true } : { ...change, diff: `${change.diff}\n[NOT put back: ${failure}]` };
  });
}

/** Below the top folder, what is gone has nothing run: whole packages and repositories are removed there. */
function isHarmless(path: string, before: ProtectedEntry, after: ProtectedEntry): boolean {
  if (after.kind === "absent" && !isProtectedName(path.split("/")[0]!)) return true;
  if (/(?:^|\/)\.git$/.test(path) || IN_REPOSITORY.hooks.test(path)) return before.kind !== "link" && after.kind === "folder";
  if (IN_REPOSITORY.sample.test(path)) return after.kind !== "link" && after.kind !== "other";
  if (!IN_REPOSITORY.config.test(path) || after.kind !== "file" || before.kind === "link") return false;
  if (before.kind === "file" && before.mode !== after.mode) return false;
  if (after.content === undefined || (before.kind === "file" && before.content === undefined)) return false;
  return isHarmlessGitConfig(before.content?.toString("utf8") ?? "", after.content.toString("utf8"));
}
