import type { ServiceImpl } from "@connectrpc/connect";
import { afterEach, describe, expect, it } from "vitest";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { RawCaller } from "../testing/raw-caller.ts";
import { serveSessions, type ServedSessions } from "../testing/serve-sessions.ts";

const { watch } = SessionService.method;
const WATCH = { sessionId: "00000000-0000-4000-8000-000000000001", follow: true };
const WINDOW = 65_536;
const WEIGHT = 64;
/** So many empty answers. */
const FULL = WINDOW / WEIGHT;
const LARGE = 5 * 1024 * 1024;

let server: ServedSessions;
let caller: RawCaller;
let pulled: number;
let left: PromiseWithResolvers<void>;

/** Answers with texts of these lengths, or with empty messages without end. */
async function serve(lengths: readonly number[] | undefined): Promise<void> {
  pulled = 0;
  left = Promise.withResolvers();
  const methods: Partial<ServiceImpl<typeof SessionService>> = {
    watch: async function* () {
      try {
        for (; pulled !== lengths?.length; pulled++)
          yield lengths === undefined ? {} : { events: [{ sessionId: "x".repeat(lengths[pulled]!) }] };
      } finally {
        left.resolve();
      }
    },
  };
  server = await serveSessions(methods);
  caller = new RawCaller(server);
}

afterEach(async () => {
  caller.session.destroy();
  await server.close();
});

/** Waits for so many answers, and for whatever comes after them. */
async function expectAnswers(call: number, count: number): Promise<void> {
  await caller.until(() => (caller.answersOf(call).length >= count ? true : undefined));
  await caller.settled();
  expect(caller.answersOf(call)).toHaveLength(count);
}

describe("the answers of a carried call", () => {
  it("stop where 65536 are unread, each counted as its bytes and 64 more, and go on as they are read", async () => {
    await serve(undefined);
    caller.begin(1, watch, WATCH);
    await expectAnswers(1, FULL);
    for (const [read, count] of [
      [WEIGHT, FULL + 1],
      [10 * WEIGHT, FULL + 11],
      [1, FULL + 12],
      [WEIGHT - 1, FULL + 12],
      [1, FULL + 13],
    ] as const) {
      caller.read(1, read);
      await expectAnswers(1, count);
      expect(pulled).toBe(count - 1);
    }
  });

  it("wait for a large one to be read, and then come to their end", async () => {
    await serve([LARGE, 1, 1]);
    caller.begin(1, watch, WATCH);
    await expectAnswers(1, 1);
    caller.read(1, LARGE);
    expect(await caller.outcome(1)).toMatchObject({ error: undefined, answers: { length: 3 } });
  });

  it("are counted for each call by itself", async () => {
    await serve(undefined);
    for (const call of [1, 2]) {
      caller.begin(call, watch, WATCH);
      await expectAnswers(call, FULL);
    }
    caller.read(2, WEIGHT);
    caller.read(3, WEIGHT);
    await expectAnswers(2, FULL + 1);
    await expectAnswers(1, FULL);
  });

  it("are given up at once where their caller cancels while they wait", async () => {
    await serve(undefined);
    caller.begin(1, watch, WATCH);
    await expectAnswers(1, FULL);
    caller.cancel(1);
    expect(await caller.outcome(1)).toMatchObject({ error: { code: "canceled" }, answers: { length: FULL } });
    await left.promise;
  });

  it("are given up where the connection goes while they wait", async () => {
    await serve(undefined);
    caller.begin(1, watch, WATCH);
    await expectAnswers(1, FULL);
    caller.session.destroy();
    await left.promise;
    expect(pulled).toBe(FULL - 1);
  });

  it("that are given in one go come in one piece, with the call's end", async () => {
    await serve([1, 1, 1]);
    caller.begin(1, watch, WATCH);
    await caller.outcome(1);
    expect(caller.heard.map(({ answers, end }) => [answers.length, end !== undefined])).toEqual([[3, true]]);
  });
});
