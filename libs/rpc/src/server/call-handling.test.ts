import { once } from "node:events";
import { Code, type ServiceImpl } from "@connectrpc/connect";
import { afterEach, describe, expect, it } from "vitest";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { RawCaller } from "../testing/raw-caller.ts";
import { serveSessions, type ServedSessions } from "../testing/serve-sessions.ts";

const { cancelRun, watch } = SessionService.method;
const ID = "00000000-0000-4000-8000-000000000001";
const RUN = { sessionId: ID, runId: ID };
const WATCH = { sessionId: ID, follow: true };

let server: ServedSessions;
let caller: RawCaller;
let unary: PromiseWithResolvers<AbortSignal>;
let stream: PromiseWithResolvers<AbortSignal>;
/** Lets the handlers end by themselves. */
let gate: PromiseWithResolvers<void>;

/** The signals of a call 1, which is unary, and a call 2, which is a stream, while both are being handled. */
async function beginTwo(methods: Partial<ServiceImpl<typeof SessionService>> = {}): Promise<AbortSignal[]> {
  [unary, stream, gate] = [Promise.withResolvers(), Promise.withResolvers(), Promise.withResolvers()];
  server = await serveSessions({
    cancelRun: async (_request, { signal }) => {
      unary.resolve(signal);
      await Promise.race([once(signal, "abort"), gate.promise]);
      return { cancelled: true };
    },
    watch: async function* (_request, { signal }) {
      yield {};
      stream.resolve(signal);
      await Promise.race([once(signal, "abort"), gate.promise]);
      yield {};
    },
    ...methods,
  });
  caller = new RawCaller(server);
  caller.begin(1, cancelRun, RUN);
  caller.begin(2, watch, WATCH);
  return Promise.all([unary.promise, stream.promise]);
}

afterEach(async () => {
  caller.session.destroy();
  await server.close();
});

async function expectAborted(signals: readonly AbortSignal[]): Promise<void> {
  for (const signal of signals) {
    if (!signal.aborted) await once(signal, "abort");
    expect(signal.reason).toMatchObject({ name: "ConnectError", code: Code.Canceled });
  }
}

describe("the handler of a carried call", () => {
  it("is told that its caller cancelled, and that call alone", async () => {
    const signals = await beginTwo();
    caller.cancel(2);
    await expectAborted(signals.slice(1));
    await caller.outcome(2);
    expect(signals[0]!.aborted).toBe(false);
  });

  it("has nothing of what it still answers sent once its caller cancelled, but that the call has ended", async () => {
    await beginTwo();
    caller.cancel(1);
    caller.cancel(2);
    expect((await caller.outcome(1)).answers).toEqual([]);
    expect((await caller.outcome(2)).answers).toEqual([new Uint8Array()]);
    const heard = caller.heard.length;
    caller.cancel(1);
    caller.read(2, 64);
    await caller.settled();
    expect(caller.heard.slice(heard).filter(({ call }) => call <= 2)).toEqual([]);
  });

  it("is told that its caller broke the stream off", async () => {
    const signals = await beginTwo();
    caller.leave();
    await expectAborted(signals);
  });

  it("is told that the connection is gone", async () => {
    const signals = await beginTwo();
    caller.session.destroy();
    await expectAborted(signals);
  });

  it("goes on where its caller only says that it begins no more calls; the stream ends with the last one", async () => {
    const signals = await beginTwo();
    caller.stream.end();
    await new Promise((resolve) => caller.session.ping(resolve));
    expect([signals.map(({ aborted }) => aborted), caller.isEnded]).toEqual([[false, false], false]);
    gate.resolve();
    for (const call of [1, 2]) expect(await caller.outcome(call)).toMatchObject({ error: undefined, neverBegun: false });
    await caller.closed;
    expect([caller.isEnded, caller.stream.rstCode]).toEqual([true, 0]);
  });

  it("sees its signal aborted when its call has been answered", async () => {
    const seen: AbortSignal[] = [];
    const signals = await beginTwo({
      listSessions: (_request, { signal }) => {
        seen.push(signal);
        return {};
      },
    });
    caller.begin(3, SessionService.method.listSessions, {});
    await caller.outcome(3);
    expect(seen[0]!.aborted).toBe(true);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
  });
});
