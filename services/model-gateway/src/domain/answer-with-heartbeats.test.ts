import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { AnswerWithHeartbeats } from "./answer-with-heartbeats.ts";
import type { Delta, AnswerEvent } from "./generation.ts";

const text = (words: string): Delta => ({ kind: "text", text: words });
let now = 0;
beforeEach(() => {
  now = 1_000;
  vi.spyOn(performance, "now").mockImplementation(() => now);
});
afterEach(() => vi.restoreAllMocks());

function sourceOf(deltas: AsyncGenerator<Delta>) {
  return {
    next: async () => {
      const come = await deltas.next();
      return come.done === true ? undefined : [come.value];
    },
    close: async () => void (await deltas.return(undefined)),
  };
}

/** What is told of a call that says these deltas, and of whose life is heard this many milliseconds after the last of them. */
async function told(says: (heard: (after: number) => Promise<void>) => AsyncGenerator<Delta>): Promise<string[]> {
  const answer = new AnswerWithHeartbeats((heard) =>
    sourceOf(
      says(async (after) => {
        await turn();
        now += after;
        heard();
        await turn();
      }),
    ),
  );
  const all: AnswerEvent[] = [];
  for await (const each of answer) all.push(each);
  return all.map((each) => (each.kind === "text" ? each.text : each.kind));
}

it("lets a caller hear every five seconds that a call goes on which says nothing", async () => {
  expect(
    await told(async function* (heard) {
      await heard(4_999);
      await heard(1);
      await heard(0);
      await heard(5_000);
      yield text("at last");
    }),
  ).toEqual(["alive", "alive", "at last"]);
});

it("says nothing of it while deltas come, and loses none", async () => {
  expect(
    await told(async function* (heard) {
      yield text("one");
      await heard(4_000);
      yield text("two");
      await heard(4_000);
      yield text("three");
      await heard(6_000);
      yield text("four");
    }),
  ).toEqual(["one", "two", "three", "alive", "four"]);
});

it("says nothing of a call of which nothing is heard", async () => {
  expect(
    await told(async function* () {
      await turn();
      now += 60_000;
      yield text("late");
    }),
  ).toEqual(["late"]);
});

it("ends as the call ends, and ends it when its reader leaves", async () => {
  let isEnded = false;
  const says = async function* (): AsyncGenerator<Delta> {
    try {
      yield text("one");
      throw new Error("broken");
    } finally {
      isEnded = true;
    }
  };
  await expect(told(says)).rejects.toThrow("broken");
  isEnded = false;
  for await (const each of new AnswerWithHeartbeats(() => sourceOf(says()))) if (each.kind === "text") break;
  expect(isEnded).toBe(true);
});

it("closes what its reader leaves while a delta was asked for once that has come, or failed", async () => {
  const asked = Promise.withResolvers<undefined>();
  let isClosed = false;
  let heard = (): void => undefined;
  const answer = new AnswerWithHeartbeats((given) => {
    heard = given;
    return {
      next: () => asked.promise,
      close: () => {
        isClosed = true;
        return Promise.resolve();
      },
    };
  });
  const first = answer.next();
  now += 5_000;
  heard();
  expect((await first).value).toEqual({ kind: "alive" });
  const left = answer.return();
  await turn();
  expect(isClosed).toBe(false);
  asked.reject(new Error("cut"));
  await left;
  expect(isClosed).toBe(true);
});

it("gives what came together one after the other, and keeps what comes while nobody reads", async () => {
  const batches = [[text("one"), text("two")], [text("three")], undefined];
  const answer = new AnswerWithHeartbeats((heard) => ({
    next: async () => {
      now += 5_000;
      heard();
      await turn();
      return batches.shift();
    },
    close: () => Promise.resolve(),
  }));
  const all: AnswerEvent[] = [];
  for await (const each of answer) {
    await turn();
    all.push(each);
  }
  expect(all.map((each) => (each.kind === "text" ? each.text : each.kind))).toEqual(["alive", "one", "two", "alive", "three", "alive"]);
});

it("fails where it cannot be opened, or not be closed", async () => {
  const unopened = new AnswerWithHeartbeats(() => {
    throw new Error("not opened");
  });
  await expect(unopened.next()).rejects.toThrow("not opened");
  const unclosed = new AnswerWithHeartbeats(() => ({
    next: () => Promise.resolve(undefined),
    close: () => Promise.reject(new Error("not closed")),
  }));
  await expect(unclosed.next()).rejects.toThrow("not closed");
});
