import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { MemoryService } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { EventSchema, type Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { WatchService, type WatchResponse } from "@hlvm/proto/hlvm/watch/v1/watch_pb";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { meshWith } from "../testing/mesh-with.ts";
import { AUTHORIZATION, type TestMesh } from "../testing/test-mesh.ts";

const ID = "0b8f8f0e-7c49-4f0c-9d7f-0f8d2f0f3a10";
const eventOf = (sequence: number, text = ""): Event =>
  create(EventSchema, { sequence: BigInt(sequence), payload: { case: "messageDelta", value: { text } } });
const SESSION_TOPIC = { name: "s", topic: { case: "session", value: { sessionId: ID, fromSequence: 1n } } } as const;
const APPROVALS_TOPIC = { name: "a", topic: { case: "approvals", value: {} } } as const;
const SESSIONS_TOPIC = { name: "l", topic: { case: "sessions", value: {} } } as const;

type Topics = Parameters<ReturnType<typeof clientOf>["watch"]>[0]["topics"];
const clientOf = (mesh: TestMesh) => createClient(WatchService, createMeshTransport(mesh.url));

/** Reads until the frames are enough, and leaves. */
async function framesUntil(
  mesh: TestMesh,
  topics: Topics,
  isEnough: (frames: readonly WatchResponse[]) => boolean,
): Promise<WatchResponse[]> {
  const leaving = new AbortController();
  const frames: WatchResponse[] = [];
  try {
    for await (const frame of clientOf(mesh).watch({ topics }, { headers: AUTHORIZATION, signal: leaving.signal })) {
      frames.push(frame);
      if (isEnough(frames)) leaving.abort();
    }
  } catch (thrown) {
    if (!leaving.signal.aborted) throw thrown;
  }
  return frames;
}

const told = (frames: readonly WatchResponse[]): string[] => frames.map(({ topic, frame }) => `${topic} ${frame.case}`);

describe("Watch", () => {
  it("carries several topics on one stream: each catches up, and goes on", async () => {
    const goOn = Promise.withResolvers<void>();
    let waiting = ["one"];
    const mesh = await meshWith((router) => {
      router.service(SessionService, {
        getSession: () => ({ session: { sessionId: ID, lastSequence: 2n } }),
        listSessions: () => ({ sessions: [{ sessionId: ID }] }),
        async *watch() {
          yield { events: [eventOf(1), eventOf(2)] };
          await goOn.promise;
          yield { events: [eventOf(3)] };
        },
      });
      router.service(PolicyService, { listApprovals: () => ({ approvals: waiting.map((approvalId) => ({ approvalId })) }) });
    });
    const frames = await framesUntil(mesh, [SESSION_TOPIC, APPROVALS_TOPIC, SESSIONS_TOPIC], (seen) => {
      if (seen.filter(({ frame }) => frame.case === "caughtUp").length === 3) {
        goOn.resolve();
        waiting = [];
      }
      return seen.some(({ frame }) => frame.case === "ended") && seen.filter(({ frame }) => frame.case === "approvals").length === 2;
    });
    const of = (name: string) => told(frames).filter((line) => line.startsWith(name));
    expect(of("s")).toEqual(["s session", "s caughtUp", "s session", "s ended"]);
    expect(of("a")).toEqual(["a approvals", "a caughtUp", "a approvals"]);
    expect(of("l")).toEqual(["l sessions", "l caughtUp"]);
  });

  it("tells what memory does: changes behind a cursor, also after memory was away, and what runs were reminded of", async () => {
    const asked: string[] = [];
    let lastSequence = 3n;
    const event = (sequence: bigint, runId: string, value: { recalled?: string[]; written?: string[]; withheld?: number }) =>
      create(EventSchema, { sequence, runId, principal: "user:ada", payload: { case: "memoryActivity", value } });
    const mesh = await meshWith((router) => {
      router.service(MemoryService, {
        async *watchFacts({ filter, cursor }) {
          asked.push(`${filter?.project} ${cursor}`);
          yield { changes: [{ changeId: `change ${asked.length}` }], cursor: `cursor ${asked.length}` };
          if (asked.length === 1) throw new ConnectError("away", Code.Unavailable);
          await new Promise(() => undefined);
        },
      });
      router.service(SessionService, {
        listSessions: () => ({ sessions: [{ sessionId: ID, title: "Fix it", lastSequence, runningRunId: "now" }] }),
        readEvents: () => ({
          events: [
            event(1n, "before", { recalled: ["of an earlier run"] }),
            event(2n, "now", { written: ["a change too"] }),
            event(3n, "now", { recalled: ["for ada"] }),
            ...(lastSequence === 4n ? [event(4n, "now", { withheld: 2 })] : []),
          ],
        }),
      });
    });
    const topic = { name: "m", topic: { case: "memory", value: { filter: { project: "/src" }, cursor: "from here" } } } as const;
    const frames = await framesUntil(mesh, [topic], (seen) => {
      if (seen.length === 3) lastSequence = 4n;
      return seen.length === 5;
    });
    const data = frames.flatMap(({ frame }) => (frame.case === "memory" ? [frame.value] : []));
    expect(data.flatMap(({ changes, cursor }) => changes.map(({ changeId }) => [changeId, cursor]))).toEqual([
      ["change 1", "cursor 1"],
      ["change 2", "cursor 2"],
    ]);
    expect(asked).toEqual(["/src from here", "/src cursor 1"]);
    expect(data.flatMap(({ recalls }) => recalls)).toMatchObject([
      { sessionId: ID, sessionTitle: "Fix it", sequence: 3n, principal: "user:ada", recalled: ["for ada"], withheld: 0 },
      { sequence: 4n, recalled: [], withheld: 2 },
    ]);
    expect(told(frames).filter((line) => line === "m caughtUp")).toHaveLength(1);
  });

  it("ends a topic that is refused, in the words of the refusal, and no other", async () => {
    const mesh = await meshWith((router) => {
      router.service(SessionService, {
        getSession: () => {
          throw new ConnectError("There is no such session.", Code.NotFound);
        },
      });
      router.service(PolicyService, { listApprovals: () => ({}) });
    });
    const frames = await framesUntil(mesh, [SESSION_TOPIC, APPROVALS_TOPIC], (seen) => seen.length === 3);
    expect(frames.find(({ topic }) => topic === "s")!.frame).toMatchObject({
      case: "ended",
      value: { message: "There is no such session." },
    });
    expect(told(frames)).toContain("a caughtUp");
  });

  it("lets go of a reader who is too slow, and of everything behind when the reader leaves", async () => {
    const left = Promise.withResolvers<void>();
    const piece = "x".repeat(256 * 1024);
    const mesh = await meshWith((router) =>
      router.service(SessionService, {
        getSession: () => ({ session: { sessionId: ID, lastSequence: 1n } }),
        async *watch() {
          try {
            for (let sequence = 1; ; sequence++) yield { events: [eventOf(sequence, piece)] };
          } finally {
            left.resolve();
          }
        },
      }),
    );
    const leaving = new AbortController();
    const stream = clientOf(mesh).watch({ topics: [SESSION_TOPIC] }, { headers: AUTHORIZATION, signal: leaving.signal });
    const reader = stream[Symbol.asyncIterator]();
    await reader.next();
    await left.promise;
    let read = 0;
    let last: WatchResponse | undefined;
    for (; last?.frame.case !== "lagging"; read++) last = (await reader.next()).value as WatchResponse;
    // What is under way on the connection was read, and no more.
    expect(read).toBeLessThan(200);
    leaving.abort();
  });

  it.each([
    ["none", []],
    ["33 of them", Array.from({ length: 33 }, (_, index) => ({ ...APPROVALS_TOPIC, name: `a${index}` }))],
    ["two of one name", [APPROVALS_TOPIC, APPROVALS_TOPIC]],
    ["one of no kind", [{ name: "x" }]],
  ] as const)("refuses topics: %s", async (_, topics) => {
    const mesh = await meshWith(() => {});
    await expect(framesUntil(mesh, [...topics] as Topics, () => true)).rejects.toMatchObject({ code: Code.InvalidArgument });
  });

  it("is for nobody without a token", async () => {
    const mesh = await meshWith(() => {});
    const watching = clientOf(mesh)
      .watch({ topics: [APPROVALS_TOPIC] })
      [Symbol.asyncIterator]()
      .next();
    await expect(watching).rejects.toMatchObject({ code: Code.Unauthenticated });
  });
});
