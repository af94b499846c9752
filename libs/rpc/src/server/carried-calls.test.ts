import { once } from "node:events";
import { fromBinary } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { afterEach, describe, expect, it } from "vitest";
import { MeshService } from "@hlvm/proto/hlvm/mesh/v1/mesh_pb";
import { ListSessionsResponseSchema, SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { RawCaller } from "../testing/raw-caller.ts";
import { serveSessions, type ServedSessions } from "../testing/serve-sessions.ts";

const { cancelRun, getSession, listSessions, watch } = SessionService.method;
const ID = "00000000-0000-4000-8000-000000000001";
const RUN = { sessionId: ID, runId: ID };
const MAXIMUM_CALLS = 1_000;
const HOUR_MILLISECONDS = 3_600_000;
const OVER_THE_LIMIT = 17 * 1024 * 1024;

let server: ServedSessions;
let caller: RawCaller;

async function serve(methods: Partial<ServiceImpl<typeof SessionService>>): Promise<void> {
  server = await serveSessions(methods, {
    moreRoutes: (router) => router.service(MeshService, { carry: (requests) => requests as never }),
  });
  caller = new RawCaller(server);
}

afterEach(async () => {
  caller.session.destroy();
  await server.close();
});

const echo: Partial<ServiceImpl<typeof SessionService>> = {
  listSessions: ({ limit }) => ({ sessions: [{ lastSequence: BigInt(limit) }] }),
};
const limitOf = (answers: readonly Uint8Array[]): number =>
  Number(fromBinary(ListSessionsResponseSchema, answers[0]!).sessions[0]!.lastSequence);

describe("the calls that one stream carries", () => {
  it("are answered in the order in which they are done, each with its own answer", async () => {
    const gates = [1, 2, 3].map(() => Promise.withResolvers<void>());
    await serve({
      listSessions: async ({ limit }) => {
        await gates[limit]!.promise;
        return { sessions: [{ lastSequence: BigInt(limit) }] };
      },
    });
    for (const limit of [0, 1, 2]) caller.begin(70 + limit, listSessions, { limit });
    for (const limit of [2, 0, 1]) {
      gates[limit]!.resolve();
      const { answers, error } = await caller.outcome(70 + limit);
      expect([error, answers.length, limitOf(answers)]).toEqual([undefined, 1, limit]);
    }
    expect(caller.heard.map(({ call, end }) => [call, end === undefined])).toEqual([
      [72, false],
      [70, false],
      [71, false],
    ]);
  });

  it("are refused one by one where their token is missing or wrong", async () => {
    const seen: number[] = [];
    await serve({
      listSessions: ({ limit }) => {
        seen.push(limit);
        return {};
      },
    });
    caller.begin(1, listSessions, { limit: 1 }, { headers: {} });
    caller.begin(2, listSessions, { limit: 2 }, { headers: { authorization: "Bearer x.y.z" } });
    caller.begin(3, listSessions, { limit: 3 }, { headers: { authorization: server.token } });
    caller.begin(4, listSessions, { limit: 4 });
    for (const call of [1, 2, 3]) expect(await caller.outcome(call)).toMatchObject({ answers: [], error: { code: "unauthenticated" } });
    expect(await caller.outcome(4)).toMatchObject({ error: undefined });
    expect(seen).toEqual([4]);
  });

  it("are refused with their violations where they break the contract's constraints", async () => {
    await serve(echo);
    caller.begin(1, listSessions, { limit: 501 });
    caller.begin(2, listSessions, { limit: 500 });
    expect(await caller.outcome(1)).toMatchObject({
      answers: [],
      error: { code: "invalid_argument", message: expect.stringContaining("limit"), details: [{ type: "buf.validate.Violations" }] },
    });
    expect(limitOf((await caller.outcome(2)).answers)).toBe(500);
  });

  it("are refused one by one where their request is none, or their method cannot be carried or is none", async () => {
    await serve(echo);
    const paths = ["", "/nobody.Service/Nothing", "listSessions", `/${MeshService.typeName}/Carry`, `/${SessionService.typeName}/`];
    for (const [call, path] of paths.entries()) caller.begin(call, listSessions, {}, { path });
    caller.begin(10, listSessions, {}, { request: Buffer.from([8]) });
    caller.begin(11, listSessions, { limit: 11 });
    for (const call of paths.keys()) expect(await caller.outcome(call)).toMatchObject({ answers: [], error: { code: "unimplemented" } });
    expect(await caller.outcome(10)).toMatchObject({ answers: [], error: { code: "invalid_argument" } });
    expect(limitOf((await caller.outcome(11)).answers)).toBe(11);
  });

  it("may have a deadline within the hour, which their handler sees, and not a later one", async () => {
    const left: unknown[] = [];
    await serve({
      listSessions: ({ limit }, { timeoutMs }) => {
        left[limit] = timeoutMs();
        return {};
      },
    });
    const deadlines = [0, 1_000, HOUR_MILLISECONDS, HOUR_MILLISECONDS + 1, 2 ** 32 - 1];
    for (const [call, timeoutMilliseconds] of deadlines.entries())
      caller.begin(call, listSessions, { limit: call }, { timeoutMilliseconds });
    const codes = await Promise.all(deadlines.map(async (_, call) => (await caller.outcome(call)).error?.code));
    expect(codes).toEqual([undefined, undefined, undefined, "invalid_argument", "invalid_argument"]);
    expect(left).toEqual([undefined, expect.any(Number), expect.any(Number)]);
    expect(left[1]).toBeLessThanOrEqual(1_000);
  });

  it("end at their deadline also where their caller says nothing", async () => {
    await serve({
      cancelRun: async (_request, { signal }) => {
        await once(signal, "abort");
        throw signal.reason;
      },
    });
    caller.begin(1, cancelRun, RUN, { timeoutMilliseconds: 10 });
    expect(await caller.outcome(1)).toMatchObject({ answers: [], error: { code: "deadline_exceeded" } });
  });

  it("are refused while a thousand are under way, and taken again when one has ended", async () => {
    let handled = 0;
    const allHandled = Promise.withResolvers<void>();
    await serve({
      ...echo,
      cancelRun: async (_request, { signal }) => {
        if (++handled === MAXIMUM_CALLS) allHandled.resolve();
        await once(signal, "abort");
        throw signal.reason;
      },
    });
    for (let call = 1; call <= MAXIMUM_CALLS; call++) caller.begin(call, cancelRun, RUN);
    caller.begin(MAXIMUM_CALLS + 1, listSessions, {});
    expect(await caller.outcome(MAXIMUM_CALLS + 1)).toMatchObject({ answers: [], error: { code: "resource_exhausted" } });
    await allHandled.promise;
    caller.cancel(1);
    await caller.outcome(1);
    caller.begin(MAXIMUM_CALLS + 2, listSessions, { limit: 5 });
    expect(limitOf((await caller.outcome(MAXIMUM_CALLS + 2)).answers)).toBe(5);
    expect(handled).toBe(MAXIMUM_CALLS);
  });

  it("end with an error where an answer is over the limit, after what they answered before, and the others go on", async () => {
    const gate = Promise.withResolvers<void>();
    await serve({
      listSessions: async () => {
        await gate.promise;
        return {};
      },
      getSession: () => ({ session: { title: "x".repeat(OVER_THE_LIMIT) } }),
      watch: async function* () {
        yield {};
        yield { events: [{ sessionId: "x".repeat(OVER_THE_LIMIT) }] };
      },
    });
    caller.begin(1, listSessions, {});
    caller.begin(2, getSession, { sessionId: ID });
    caller.begin(3, watch, { sessionId: ID });
    expect(await caller.outcome(2)).toMatchObject({ answers: [], error: { code: "resource_exhausted" } });
    expect(await caller.outcome(3)).toMatchObject({ answers: [new Uint8Array()], error: { code: "resource_exhausted" } });
    gate.resolve();
    expect(await caller.outcome(1)).toMatchObject({ error: undefined });
  });

  it("end with an error that says nothing, whatever their handler throws", async () => {
    const thrown: unknown[] = [undefined, null, "hunter2", new Error("hunter2"), { toString: null }];
    await serve({
      listSessions: ({ limit }) => {
        throw thrown[limit];
      },
    });
    for (const limit of thrown.keys()) {
      caller.begin(limit, listSessions, { limit });
      const { answers, error } = await caller.outcome(limit);
      expect([answers, error?.code]).toEqual([[], "internal"]);
      expect(error?.message).not.toContain("hunter2");
    }
  });
});
