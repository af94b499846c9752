import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SessionHomes } from "./session-homes.ts";

const DAY = 24 * 60 * 60 * 1_000;

let folder: string;
let homes: SessionHomes;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hlvm-homes-"));
  homes = new SessionHomes(folder);
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A session's checkpoints: its journal was written to so many days ago, and its folder made then or earlier. */
function checkpoints(sessionId: string, { journal, made = journal }: { journal: number; made?: number }): void {
  const path = homes.open(sessionId, undefined);
  writeFileSync(join(path, "journal"), "{}\n");
  const daysAgo = (days: number): Date => new Date(Date.now() - days * DAY);
  utimesSync(join(path, "journal"), daysAgo(journal), daysAgo(journal));
  utimesSync(path, daysAgo(made), daysAgo(made));
}

describe("SessionHomes", () => {
  it("removes what nothing was added to for 30 days, and nothing that is still written to", async () => {
    checkpoints("old", { journal: 31 });
    checkpoints("young", { journal: 29 });
    checkpoints("long", { journal: 1, made: 90 });
    mkdirSync(join(folder, "empty"));
    await homes.prune(30 * DAY);
    expect(readdirSync(folder).toSorted()).toEqual(["empty", "long", "young"]);
  });

  it("removes a session's own with all in it, and no other's", async () => {
    checkpoints("one", { journal: 0 });
    checkpoints("other", { journal: 0 });
    await homes.remove("one");
    await homes.remove("never opened");
    expect(readdirSync(folder)).toEqual(["other"]);
  });
});
