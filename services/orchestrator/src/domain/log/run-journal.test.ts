import { describe, expect, it } from "vitest";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { ToolOutput_Stream } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { DeltaWriter } from "./delta-writer.ts";
import type { Append } from "./event-log.ts";
import { eventPayload, type EventPayload } from "./event-payload.ts";
import { RunJournal } from "./run-journal.ts";

const lease = { sessionId: "s", runId: "r", owner: "o" };
const delta = (text: string) => eventPayload("messageDelta", { text });
const textOf = ({ case: type, value }: EventPayload): string | undefined =>
  type === "toolOutput" ? value.output?.text : (value as { text: string }).text;
const failing = (reason: string): HlvmError => new HlvmError({ code: "unavailable", reason, message: "gone" });
const unreachable = (): HlvmError => failing("database_unreachable");

function journalOver(append: (request: Append) => Promise<void>, retryMilliseconds?: number): { journal: RunJournal; failures: unknown[] } {
  const failures: unknown[] = [];
  const log = {
    append,
    appendEach: () => Promise.resolve([]),
    read: () => Promise.resolve({ events: [], hasMore: false }),
    readBefore: () => Promise.resolve({ events: [], hasMore: false }),
    readContext: () => Promise.resolve([]),
    readUndone: () => Promise.resolve([]),
    readConversation: () => Promise.resolve([]),
    readOutput: () => Promise.resolve(undefined),
    readRecorded: () => Promise.resolve([]),
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

  it("joins pieces of one text that wait, and keeps them apart from another text and another stream", async () => {
    const texts: (string | undefined)[] = [];
    const { journal } = journalOver(async ({ events }) => {
      texts.push(...events.map(({ payload }) => textOf(payload)));
    });
    const output = (stream: ToolOutput_Stream, text: string) => eventPayload("toolOutput", { callId: "c", output: { stream, text } });
    const { STDOUT, STDERR } = ToolOutput_Stream;
    for (const text of ["a", "b"]) journal.appendDelta(1, delta(text));
    for (const text of ["c", "d"]) journal.appendDelta(1, eventPayload("reasoningUpdate", { text }));
    for (const text of ["e", "f"]) journal.appendDelta(1, output(STDOUT, text));
    journal.appendDelta(1, output(STDERR, "g"));
    journal.appendDelta(2, delta("h"));
    await journal.append(2, delta("i"));
    expect(texts).toEqual(["ab", "cd", "ef", "g", "h", "i"]);
  });

  it("waits with the next effect for its entries, and for what else is to be on record", async () => {
    const { journal } = journalOver(() => Promise.resolve());
    const outcome = Promise.withResolvers<void>();
    let isWritten = false;
    void journal.appendSoon(1, delta("a"));
    journal.records.add(outcome.promise);
    const written = journal.records.written.then(() => (isWritten = true));
    await journal.append(1, delta("b"));
    expect(isWritten).toBe(false);
    outcome.resolve();
    await written;
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
