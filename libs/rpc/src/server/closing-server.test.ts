import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { RawCaller } from "../testing/raw-caller.ts";
import { serveSessions, type ServedSessions } from "../testing/serve-sessions.ts";

const { cancelRun, listSessions, watch } = SessionService.method;
const ID = "00000000-0000-4000-8000-000000000001";
const RUN = { sessionId: ID, runId: ID };

let server: ServedSessions;
let caller: RawCaller;
let gate: PromiseWithResolvers<void>;
let twoBegun: PromiseWithResolvers<void>;
let begun: number;

beforeEach(async () => {
  [gate, twoBegun] = [Promise.withResolvers(), Promise.withResolvers()];
  begun = 0;
  const begin = (): void => {
    if (++begun === 2) twoBegun.resolve();
  };
  server = await serveSessions({
    listSessions: async () => {
      begin();
      await gate.promise;
      return {};
    },
    cancelRun: () => {
      begin();
      return new Promise(() => undefined);
    },
    watch: async function* (_request, { signal }) {
      begin();
      yield {};
      await once(signal, "abort");
    },
  });
  caller = new RawCaller(server);
  await caller.settled();
});

afterEach(async () => {
  caller.session.destroy();
  await server.close();
});

describe("a server that closes", () => {
  it("lets the calls under way end well, begins no other, and ends the stream with the last one", async () => {
    caller.begin(1, listSessions, {});
    caller.begin(2, listSessions, {});
    await twoBegun.promise;
    const closing = server.close();
    caller.begin(3, listSessions, {});
    expect(await caller.outcome(3)).toEqual({ answers: [], error: undefined, neverBegun: true });
    expect([begun, caller.isEnded]).toEqual([2, false]);
    gate.resolve();
    for (const call of [1, 2]) expect(await caller.outcome(call)).toMatchObject({ error: undefined, neverBegun: false });
    caller.stream.once("end", () => caller.stream.end());
    await caller.closed;
    expect([caller.isEnded, caller.stream.rstCode, begun]).toEqual([true, 0, 2]);
    await closing;
  });

  it("ends a stream without calls at once", async () => {
    caller.stream.once("end", () => caller.stream.end());
    await server.close();
    await caller.closed;
    expect([caller.isEnded, caller.stream.rstCode]).toEqual([true, 0]);
  });

  it("aborts the calls that do not end by themselves, and closes also where one never does", async () => {
    caller.begin(1, watch, { sessionId: ID, follow: true });
    caller.begin(2, cancelRun, RUN);
    await twoBegun.promise;
    const closing = server.close();
    expect(await caller.outcome(1)).toMatchObject({ answers: { length: 1 }, neverBegun: false });
    await closing;
    await caller.closed;
    expect(caller.heard.filter(({ call }) => call === 2)).toEqual([]);
  });

  it("closes also where a caller keeps its side of the stream open", async () => {
    await server.close();
    expect(caller.isEnded).toBe(true);
  });
});
