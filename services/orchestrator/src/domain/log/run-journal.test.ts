import { describe, expect, it } from "vitest";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { DeltaWriter } from "./delta-writer.ts";
import type { Append } from "./event-log.ts";
import { eventPayload } from "./event-payload.ts";
import { RunJournal } from "./run-journal.ts";

const lease = { sessionId: "s", runId: "r", owner: "o" };
const delta = (text: string) => eventPayload("messageDelta", { text });
const failing = (reason: string): HlvmError => new HlvmError({ code: "unavailable", reason, message: "gone" });
const unreachable = (): HlvmError => failing("database_unreachable");

function journalOver(append: (request: Append) => Promise<void>, retryMilliseconds?: number): { journal: RunJournal; failures: unknown[] } {
  const failures: unknown[] = [];
  const log = {
    append,
    appendEach: () => Promise.resolve([]),
    read: () => Promise.resolve({ events: [], hasMore: false }),
    readContext: () => Promise.resolve([]),
    readRun: () => Promise.resolve([]),
    readResult: () => Promise.resolve(undefined),
  };
  return {
    journal: new RunJournal({
      log,
      deltas: new DeltaWriter(log),
      lease,
      principal: "user:ada",
      position: 2,
      onFailure: (cause) => failures.push(cause),
      retryMilliseconds,
    }),
    failures,
  };
}

describe("RunJournal", () => {
  it("writes what waits together in one statement, in order", async () => {
    const appends: Append[] = [];
    const begun = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const { journal } = journalOver(async (request) => {
      appends.push(request);
      begun.resolve();
      await released.promise;
    });
    const first = journal.append(1, delta("a"));
    await begun.promise;
    const others = [journal.append(1, delta("b"), delta("c")), journal.end(1, eventPayload("runStopped", {}), StopReason.COMPLETED, false)];
    released.resolve();
    await Promise.all([first, ...others]);
    expect(appends.map(({ position, events, stopReason }) => [position, events.length, stopReason])).toEqual([
      [2, 1, undefined],
      [3, 3, StopReason.COMPLETED],
    ]);
  });

  it("lets what may wait be written with what comes next, and writes it by itself where nothing comes", async () => {
    const sizes: number[] = [];
    const { journal } = journalOver(async ({ events }) => {
      sizes.push(events.length);
    });
    const soon = journal.appendSoon(1, delta("a"));
    await journal.append(1, delta("b"));
    await soon;
    await journal.appendSoon(1, delta("c"));
    expect(sizes).toEqual([2, 1]);
  });

  it.each(["database_unreachable", "database_disk_full", "write_conflict"])(
    "tries the same append again after a failure that may pass: %s",
    async (reason) => {
      const positions: number[] = [];
      const { journal, failures } = journalOver(async ({ position }) => {
        positions.push(position);
        if (positions.length < 3) throw failing(reason);
      });
      await journal.append(1, delta("a"));
      expect(positions).toEqual([2, 2, 2]);
      expect(failures).toEqual([]);
    },
  );

  it("does not try again what will not pass", async () => {
    let appends = 0;
    const { journal } = journalOver(async () => {
      appends++;
      throw failing("lease_lost");
    });
    await expect(journal.append(1, delta("a"))).rejects.toThrow("gone");
    expect(appends).toBe(1);
  });

  it("fails everything after the first failure, and says so once", async () => {
    let appends = 0;
    const { journal, failures } = journalOver(async () => {
      appends++;
      throw unreachable();
    }, 0);
    await expect(journal.append(1, delta("a"))).rejects.toThrow("gone");
    const before = appends;
    await expect(journal.append(1, delta("b"))).rejects.toThrow("gone");
    expect(appends).toBe(before);
    expect(failures).toHaveLength(1);
  });
});
