import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CheckpointStore } from "./checkpoint-store.ts";

const MOST_BYTES = 10_000;

let workspace: string;
let folder: string;
beforeEach(() => {
  workspace = mkdtempSync(join(tmpdir(), "hlvm-workspace-"));
  folder = join(workspace, "store");
});
afterEach(() => rmSync(workspace, { recursive: true }));

/** A file of so many bytes, each with the same letter. */
function file(letter: string, bytes: number): string {
  const path = join(workspace, letter);
  writeFileSync(path, letter.repeat(bytes));
  return path;
}

const note = (store: CheckpointStore, turn: string): void => store.append({ turn, set: [], same: [], gone: [] });
const open = (): CheckpointStore => {
  const store = new CheckpointStore(folder, MOST_BYTES);
  if (store.records.length === 0) note(store, "first");
  return store;
};

describe("a session's checkpoints that have no room left", () => {
  it("keep no content beyond their limit, and all that they have", () => {
    const store = open();
    const kept = store.keep(file("a", 6_000));
    expect(store.keep(file("b", 6_000))).toBe("");
    note(store, "second");
    expect([store.keep(file("a", 6_000)), store.read(kept).toString()]).toEqual([kept, "a".repeat(6_000)]);
    store.makeRoom();
    expect(store.records.map(({ turn }) => turn)).toEqual(["first", "second"]);
  });

  it("begin anew before the next turn writes: nothing of them is left, and what comes is kept", () => {
    const store = open();
    const former = store.keep(file("a", MOST_BYTES));
    note(store, "second");
    store.makeRoom();
    expect([store.records, readdirSync(folder)]).toEqual([[], ["forgotten"]]);
    expect(() => store.read(former)).toThrow("not kept");
    const kept = store.keep(file("b", 6_000));
    note(store, "third");
    for (const one of [store, open()]) {
      expect(one.records.map(({ turn }) => turn)).toEqual(["third"]);
      expect(one.read(kept).toString()).toBe("b".repeat(6_000));
    }
  });

  it("begin anew also where they were opened again since", () => {
    const store = open();
    store.keep(file("a", MOST_BYTES));
    note(store, "second");
    const again = open();
    again.makeRoom();
    expect(again.records).toEqual([]);
  });

  it("tell of no content that went with them, though it was kept for a turn that was never noted", () => {
    const store = open();
    store.keep(file("a", 6_000));
    note(store, "second");
    const lost = store.keep(file("b", 4_000));
    store.makeRoom();
    note(store, "third");
    expect(open().records.flatMap(({ kept }) => kept.map(([hash]) => hash))).not.toContain(lost);
    const again = open();
    expect(again.read(again.keep(file("b", 4_000))).toString()).toBe("b".repeat(4_000));
  });
});
