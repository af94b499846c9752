import { once } from "node:events";
import { Code, createClient, type Client } from "@connectrpc/connect";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { failureOf } from "../testing/failure-of.ts";
import { serveSessions, type ServedSessions } from "../testing/serve-sessions.ts";

const ID = "00000000-0000-4000-8000-000000000001";

let server: ServedSessions;
let client: Client<typeof SessionService>;
let gate: PromiseWithResolvers<void>;
let begun: PromiseWithResolvers<void>;

beforeEach(async () => {
  [gate, begun] = [Promise.withResolvers(), Promise.withResolvers()];
  server = await serveSessions({
    listSessions: async () => {
      begun.resolve();
      await gate.promise;
      return {};
    },
    cancelRun: () => {
      begun.resolve();
      return new Promise(() => undefined);
    },
    watch: async function* (_request, { signal }) {
      begun.resolve();
      yield {};
      await once(signal, "abort");
    },
  });
  client = createClient(SessionService, createMeshTransport(server.url));
});

afterEach(() => server.close());

describe("a server that closes", () => {
  it("lets the calls under way end well", async () => {
    const call = client.listSessions({}, { headers: server.headers });
    await begun.promise;
    const closing = server.close();
    gate.resolve();
    expect((await call).sessions).toEqual([]);
    await closing;
  });

  it("aborts the calls that do not end by themselves, and closes also where one never does", async () => {
    const watching = client.watch({ sessionId: ID, follow: true }, { headers: server.headers })[Symbol.asyncIterator]();
    await watching.next();
    const never = failureOf(client.cancelRun({ sessionId: ID, runId: ID }, { headers: server.headers }));
    await server.close();
    await watching.next().catch(() => undefined);
    expect((await never).code).toBe(Code.Unavailable);
  });
});
