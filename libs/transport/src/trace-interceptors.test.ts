import { setImmediate as nextTick } from "node:timers/promises";
import { createClient } from "@connectrpc/connect";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { contextOfTraceparent, currentTraceId } from "@hlvm/telemetry/trace-context";
import { context } from "@opentelemetry/api";
import { createMeshTransport } from "./create-mesh-transport.ts";
import { serveSessions, type ServedSessions } from "@hlvm/rpc/testing/serve-sessions";
import { traceClientInterceptor } from "@hlvm/telemetry/trace-interceptors";

const SESSION = "00000000-0000-4000-8000-000000000001";
const TRACES = ["0af7651916cd43dd8448eb211c80319c", "4bf92f3577b34da6a3ce929d0e0e4736"] as const;

let served: ServedSessions;
let seen: string[];

/** Does it as a part of a trace. */
function within<T>(traceId: string, work: () => T): T {
  return context.with(contextOfTraceparent(`00-${traceId}-b7ad6b7169203331-01`), work);
}

beforeEach(async () => {
  seen = [];
  served = await serveSessions({
    listSessions: async () => {
      await nextTick();
      seen.push(currentTraceId());
      return {};
    },
    async *watch() {
      for (let piece = 0; piece < 3; piece++) {
        await nextTick();
        seen.push(currentTraceId());
        yield {};
      }
    },
  });
});
afterEach(() => served.close());

const client = () => createClient(SessionService, createMeshTransport(served.url, [traceClientInterceptor]));

describe("a call between services, with nothing that exports", () => {
  it("is part of its caller's trace, side by side with others", async () => {
    const call = (traceId: string) => within(traceId, () => client().listSessions({}, { headers: served.headers }));
    await Promise.all(TRACES.map(call));
    expect(seen.toSorted()).toEqual([...TRACES]);
  });

  it("stays part of it in every piece of a stream of answers", async () => {
    for (const traceId of TRACES) {
      // Read from outside, as a server's adapter reads its handlers.
      const pieces = within(traceId, () => client().watch({ sessionId: SESSION }, { headers: served.headers }));
      for await (const _ of pieces);
    }
    expect(seen).toEqual(TRACES.flatMap((traceId) => [traceId, traceId, traceId]));
  });

  it("has a trace of its own where its caller has none, or says none that can be read", async () => {
    const plain = createClient(SessionService, createMeshTransport(served.url));
    for (const traceparent of [undefined, "", "nonsense", `00-${"0".repeat(32)}-b7ad6b7169203331-01`])
      await plain.listSessions({}, { headers: { ...served.headers, ...(traceparent === undefined ? {} : { traceparent }) } });
    expect(new Set(seen).size).toBe(4);
    for (const traceId of seen) expect(traceId).toMatch(/^(?!0{32})[0-9a-f]{32}$/);
  });
});
