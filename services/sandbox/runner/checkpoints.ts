import { readlinkSync, type BigIntStats } from "node:fs";
import type { RestoredPathJson } from "@hlvm/proto/hlvm/sandbox/v1/runner_pb";
import { CheckpointStore, type Entry } from "./checkpoint-store.ts";
import { unlessGone, walk } from "./checkpoint-walk.ts";
import { differences, isSame } from "./differences.ts";
import { putBack, removePath } from "./put-back.ts";
import { listChanges, type ListedChanges } from "./list-changes.ts";

/** A file that was written so lately may be written again without its times telling. */
const FRESH_NANOSECONDS = 100_000_000n;
const TOLD_PATHS = 2_000;

export interface Rewind {
  /** The oldest first. */
  readonly turns: readonly string[];
  readonly preview: boolean;
  readonly overwrite: boolean;
}

export interface Rewound {
  readonly failure: string;
  readonly paths: readonly RestoredPathJson[];
  readonly pathCount: number;
  /** It has begun anew since, and has nothing of the first of the turns. */
  readonly incomplete: boolean;
}

/**
 * What a workspace held before and after each writing turn of a session. What changed between the end of one turn and the
 * beginning of the next was changed by others. Everything is done inside the sandbox, by this process, which runs nothing of
 * the workspace; git has no part in it, so that no attribute, filter or hook has any either.
 */
export class Checkpoints {
  readonly #root: string;
  readonly #store: CheckpointStore;
  #state: Map<string, Entry>;

  constructor(root: string, folder: string) {
    this.#root = root;
    this.#store = new CheckpointStore(folder);
    this.#state = this.#stateAt(this.#store.records.length);
  }

  /** @param turn the one that is about to write; empty: its writing is done @throws Error where it cannot be noted */
  note(turn: string): void {
    if (turn !== "") {
      this.#store.makeRoom();
      if (this.#store.records.length === 0) this.#state = new Map();
    }
    const next = this.#look();
    const touched = [...next].filter(
      ([path, entry]) => entry.stamp !== this.#state.get(path)?.stamp || !isSame(entry, this.#state.get(path)),
    );
    const set = touched.filter(([path, entry]) => !isSame(entry, this.#state.get(path)));
    const same = touched.filter(([path, entry]) => isSame(entry, this.#state.get(path)));
    const gone = [...this.#state.keys()].filter((path) => !next.has(path));
    this.#store.append({ turn, set, same, gone });
    this.#state = next;
  }

  rewind({ turns, preview, overwrite }: Rewind): Rewound {
    const { records } = this.#store;
    const wanted = new Set(turns);
    const first = records.findIndex(({ turn }) => turn !== "" && wanted.has(turn));
    const incomplete = this.#store.hasForgotten && !records.some(({ turn }) => turn === turns[0]);
    if (first < 0) return { failure: "", paths: [], pathCount: 0, incomplete };
    // What is there now is kept too.
    this.note("undo");
    const target = this.#stateAt(first + 1);
    const others = this.#changedByOthers(first + 1);
    const paths = differences(this.#state, target).map(({ path, action }) => ({
      path,
      action,
      changedByOthers: others.has(path),
      failure: "",
    }));
    if (!preview) {
      this.#apply(
        paths.filter(({ changedByOthers }) => overwrite || !changedByOthers),
        target,
      );
      this.note("");
    }
    return { failure: "", paths: paths.slice(0, TOLD_PATHS), pathCount: paths.length, incomplete };
  }

  /** What is there otherwise than at the first checkpoint. Nothing is noted: a turn may be writing. */
  compare(): ListedChanges {
    const { records } = this.#store;
    if (records.length === 0) {
      // Where it holds too much, none could be made.
      walk(this.#root, () => undefined);
      return { changes: [], changeCount: 0 };
    }
    const now = this.#look();
    const others = this.#changedByOthers(1);
    if (records.at(-1)!.turn === "") for (const { path } of differences(now, this.#state)) others.add(path);
    return listChanges(this.#stateAt(1), now, { others, read: (hash) => this.#store.read(hash) });
  }

  #apply(paths: { readonly path: string; failure: string }[], target: ReadonlyMap<string, Entry>): void {
    const attempt = (one: { readonly path: string; failure: string }, work: () => void): void => {
      try {
        work();
      } catch (thrown) {
        one.failure = (thrown as Error).message.replace(/\/proc\/self\/fd\/\d+\/?/g, "");
      }
    };
    // What lies in a folder goes before it, and comes after it.
    for (const one of paths.toReversed()) {
      const is = this.#state.get(one.path);
      if (is !== undefined && is.kind !== target.get(one.path)?.kind) attempt(one, () => removePath(this.#root, one.path));
    }
    for (const one of paths) {
      const was = target.get(one.path);
      if (was !== undefined && one.failure === "") attempt(one, () => putBack(this.#root, one.path, was, (hash) => this.#store.read(hash)));
    }
  }

  #look(): Map<string, Entry> {
    const found = new Map<string, Entry>();
    const fresh = BigInt(Date.now()) * 1_000_000n - FRESH_NANOSECONDS;
    walk(this.#root, (path, held, stat) => {
      const entry = unlessGone(() => this.#entryOf(path, held, stat, fresh));
      if (entry !== undefined) found.set(path, entry);
    });
    return found;
  }

  #entryOf(path: string, held: string, stat: BigIntStats, fresh: bigint): Entry | undefined {
    const mode = Number(stat.mode) & 0o7777;
    if (stat.isDirectory()) return { kind: "folder", mode, stamp: "", content: "" };
    if (stat.isSymbolicLink()) return { kind: "link", mode: 0, stamp: "", content: readlinkSync(held) };
    if (!stat.isFile()) return undefined;
    const stamp = stat.ctimeNs > fresh ? "" : `${stat.size} ${stat.mtimeNs} ${stat.ctimeNs} ${stat.ino}`;
    const known = this.#state.get(path);
    if (known?.kind === "file" && stamp !== "" && known.stamp === stamp) return known;
    const content = this.#store.keep(held);
    // Of what is not kept, the stamp alone tells whether it has changed.
    return { kind: "file", mode, stamp: content === "" ? `${stat.size} ${stat.mtimeNs}` : stamp, content };
  }

  #stateAt(count: number): Map<string, Entry> {
    const state = new Map<string, Entry>();
    for (const { set, same, gone } of this.#store.records.slice(0, count)) {
      for (const [path, entry] of [...set, ...same]) state.set(path, entry);
      for (const path of gone) state.delete(path);
    }
    return state;
  }

  #changedByOthers(from: number): Set<string> {
    const found = new Set<string>();
    for (const { turn, set, gone } of this.#store.records.slice(from))
      if (turn !== "") for (const path of [...set.map(([changed]) => changed), ...gone]) found.add(path);
    return found;
  }
}
