import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
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
