import type { ProtectedEntryJson, RunnerResponse_Compared_ChangeJson as ChangeJson } from "@hlvm/proto/hlvm/sandbox/v1/runner_pb";
import type { Entry } from "./checkpoint-store.ts";
import { differences } from "./differences.ts";

/** In a frame of 16 MiB, in which each three bytes are four characters. */
const CONTENT_BYTES = 8 * 1024 * 1024;
const CHANGES = 2_000;
const PATH_BYTES = 2 * 1024 * 1024;

export interface ListedChanges {
  /** The first of them. */
  readonly changes: ChangeJson[];
  readonly changeCount: number;
}

interface Sources {
  /** Paths that others changed. */
  readonly others: ReadonlySet<string>;
  /** @throws Error where a content was not kept */
  readonly read: (hash: string) => Buffer;
}

/** What differs between two states, with both contents as far as there is room: what does not fit is named without. Folders are left out. */
export function listChanges(
  before: ReadonlyMap<string, Entry>,
  after: ReadonlyMap<string, Entry>,
  { others, read }: Sources,
): ListedChanges {
  let room = CONTENT_BYTES;
  let pathRoom = PATH_BYTES;
  const paths = differences(after, before).flatMap(({ path }) => (isListed(before.get(path)) || isListed(after.get(path)) ? [path] : []));
  const changes: ChangeJson[] = [];
  for (const path of paths) {
    // Twice, and with what JSON makes of it.
    pathRoom -= 2 * Buffer.byteLength(JSON.stringify(path));
    if (changes.length === CHANGES || pathRoom < 0) break;
    const change = (...[was, is]: (Buffer | undefined)[]): ChangeJson => ({
      before: entryJson(path, before.get(path), was),
      after: entryJson(path, after.get(path), is),
      changedByOthers: others.has(path),
    });
    try {
      const [was, is] = [before, after].map((state) => contentOf(state.get(path), read));
      const bytes = (was?.length ?? 0) + (is?.length ?? 0);
      if (bytes > room) throw new Error(`there is no room for it: more than ${CONTENT_BYTES / 1024 / 1024} MiB were changed`);
      room -= bytes;
      changes.push(change(was, is));
    } catch (thrown) {
      changes.push({ ...change(), leftOut: (thrown as Error).message });
    }
  }
  return { changes, changeCount: paths.length };
}

function isListed(entry: Entry | undefined): boolean {
  return entry !== undefined && entry.kind !== "folder";
}

function contentOf(entry: Entry | undefined, read: (hash: string) => Buffer): Buffer | undefined {
  if (entry === undefined || entry.kind === "folder") return undefined;
  return entry.kind === "link" ? Buffer.from(entry.content) : read(entry.content);
}

/** A folder counts for nothing there, as for git. */
function entryJson(path: string, entry: Entry | undefined, content: Buffer | undefined): ProtectedEntryJson {
  if (!isListed(entry)) return { path, kind: "KIND_ABSENT" };
  const kind = entry!.kind === "link" ? "KIND_LINK" : "KIND_FILE";
  return { path, kind, mode: entry!.mode, content: content?.toString("base64") };
}
