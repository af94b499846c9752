import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, type Client } from "@connectrpc/connect";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { EventSchema, type Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { SessionService, WatchRequest } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { followSession } from "./follow-session.ts";

// Waiting is what moves the clock on.
vi.mock("node:timers/promises", () => ({ setTimeout: async (milliseconds: number) => void vi.advanceTimersByTime(milliseconds) }));
beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

type Watch = (request: WatchRequest) => AsyncGenerator<{ events: Event[] }>;

/** A client whose streams are these, one after the other, and then the last of them for ever. */
function clientOf(...streams: Watch[]) {
  const opened: bigint[] = [];
  const watch = (request: WatchRequest): AsyncGenerator<{ events: Event[] }> => {
    opened.push(request.fromSequence);
    return (streams.length > 1 ? streams.shift()! : streams[0]!)(request);
  };
  const getSession = vi.fn<() => Promise<object>>(() => Promise.resolve({}));
  return { client: { watch, getSession } as unknown as Client<typeof SessionService>, opened, getSession };
}

/** The events with these sequence numbers, then a failure. */
function cutAfter(failure: ConnectError, ...sequences: bigint[]): Watch {
  return async function* () {
    if (sequences.length > 0) yield { events: sequences.map((sequence) => create(EventSchema, { sequence })) };
    throw failure;
  };
}

async function* whole(request: WatchRequest): AsyncGenerator<{ events: Event[] }> {
  for (const sequence of [1n, 2n, 3n, 4n]) if (sequence >= request.fromSequence) yield { events: [create(EventSchema, { sequence })] };
}

async function* first(): AsyncGenerator<{ events: Event[] }> {
  yield { events: [create(EventSchema, { sequence: 1n })] };
}

async function follow(client: Client<typeof SessionService>, follows = false, onLost: () => void = () => undefined): Promise<bigint[]> {
  const options = { sessionId: "s", from: 1n, follow: follows, signal: new AbortController().signal, onLost };
  const seen: bigint[] = [];
  for await (const { sequence } of followSession(client, options)) seen.push(sequence);
  return seen;
}

describe("followSession", () => {
  it.each([
    ["a connection that is gone", new ConnectError("connection lost: read ECONNRESET", Code.Unavailable)],
    ["a session of HTTP/2 that is destroyed", new ConnectError("the session was destroyed", Code.Canceled)],
    ["an edge that froze: a stream without its end", new ConnectError("The stream breaks off: its end is missing.", Code.InvalidArgument)],
    ["a connection that is going away", new ConnectError("NGHTTP2_REFUSED_STREAM", Code.Internal)],
  ])("resumes at the first event that was not seen after %s", async (_, failure) => {
    const { client, opened } = clientOf(cutAfter(failure, 1n, 2n), cutAfter(failure), whole);
    expect(await follow(client)).toEqual([1n, 2n, 3n, 4n]);
    expect(opened).toEqual([1n, 3n, 3n]);
  });

  it("does not show again what a peer repeats", async () => {
    const { client } = clientOf(
      cutAfter(new ConnectError("cut", Code.Unavailable), 1n, 2n),
      cutAfter(new ConnectError("cut", Code.Unavailable), 1n, 2n),
      whole,
    );
    expect(await follow(client)).toEqual([1n, 2n, 3n, 4n]);
  });

  it("does not try again what was answered", async () => {
    const { client, opened } = clientOf(cutAfter(new ConnectError("There is no session s.", Code.NotFound)));
    await expect(follow(client)).rejects.toMatchObject({ code: "not_found" });
    expect(opened).toHaveLength(1);
  });

  it("tells once that it resumes, and gives up after 60 s without contact", async () => {
    const onLost = vi.fn<() => void>();
    const refused = new ConnectError("connect ECONNREFUSED", Code.Unavailable);
    const { client, getSession } = clientOf(cutAfter(refused));
    getSession.mockRejectedValue(refused);
    const began = performance.now();
    await expect(follow(client, true, onLost)).rejects.toMatchObject({
      reason: "connection_lost",
      message: expect.stringContaining("within 60 s: connect ECONNREFUSED"),
      advice: expect.stringContaining("hlvm session watch"),
    });
    expect(performance.now() - began).toBeGreaterThanOrEqual(60_000);
    expect(performance.now() - began).toBeLessThan(65_000);
    expect(onLost).toHaveBeenCalledTimes(1);
    expect(getSession.mock.calls.length).toBeLessThan(40);
  });

  it("gives up after 60 s where somebody answers and every stream breaks at once", async () => {
    const { client, opened } = clientOf(cutAfter(new ConnectError("cut", Code.Unavailable)));
    await expect(follow(client, true)).rejects.toMatchObject({ reason: "connection_lost" });
    expect(opened.length).toBeLessThan(40);
  });

  it("goes on for as long as streams stay open for a while, though nothing happens in the session", async () => {
    const silent: Watch = async function* (request) {
      await vi.advanceTimersByTimeAsync(2_000);
      yield* cutAfter(new ConnectError("cut", Code.Unavailable))(request);
    };
    const { client } = clientOf(...Array.from({ length: 100 }, () => silent), whole);
    expect(await follow(client)).toEqual([1n, 2n, 3n, 4n]);
  });

  it("goes on for as long as there is contact, however often it is cut", async () => {
    const onLost = vi.fn<() => void>();
    const lasting: Watch = async function* (request) {
      await vi.advanceTimersByTimeAsync(180_000);
      if (opened.length === 20) yield* whole(request);
      else throw new ConnectError("cut", Code.Unavailable);
    };
    const { client, opened } = clientOf(lasting);
    expect(await follow(client, false, onLost)).toEqual([1n, 2n, 3n, 4n]);
    expect(opened).toHaveLength(20);
    expect(onLost).not.toHaveBeenCalled();
  });

  it("leaves a stream that is silent though there are events, and that not even notices", async () => {
    const silent: Watch = async function* () {
      yield* first();
      await new Promise(() => undefined);
    };
    const { client, opened, getSession } = clientOf(silent, whole);
    getSession.mockResolvedValue({ session: { lastSequence: 4n } });
    const followed = follow(client);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await followed).toEqual([1n, 2n, 3n, 4n]);
    expect(opened).toEqual([1n, 2n]);
  });

  it("lets a stream be silent where there is nothing to tell", async () => {
    const { client, opened, getSession } = clientOf(async function* () {
      yield* first();
      await new Promise((resolve) => setTimeout(resolve, 600_000));
      yield { events: [create(EventSchema, { sequence: 2n })] };
    });
    getSession.mockResolvedValue({ session: { lastSequence: 1n } });
    const followed = follow(client);
    await vi.advanceTimersByTimeAsync(600_000);
    expect(await followed).toEqual([1n, 2n]);
    expect(opened).toEqual([1n]);
  });
});
