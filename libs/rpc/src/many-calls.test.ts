import { once } from "node:events";
import { connect, createServer, type AddressInfo } from "node:net";
import { pipeline } from "node:stream/promises";
import { createClient } from "@connectrpc/connect";
import { expect, it } from "vitest";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { createMeshTransport } from "./create-mesh-transport.ts";
import { serveSessions } from "./testing/serve-sessions.ts";
import { MAXIMUM_CALLS } from "./wire/maximum-calls.ts";

const ALL = 2 * MAXIMUM_CALLS + 1;

it("has more calls under way at a time than one stream carries, and ends the streams that it needs no more", async () => {
  const gate = Promise.withResolvers<void>();
  const allBegun = Promise.withResolvers<void>();
  let begun = 0;
  const server = await serveSessions({
    listSessions: async ({ limit }) => {
      if (++begun === ALL) allBegun.resolve();
      await gate.promise;
      return { sessions: [{ title: String(limit) }] };
    },
  });
  let connections = 0;
  const between = createServer((socket) => {
    connections++;
    const onward = connect(server.port, "127.0.0.1");
    const ways = Promise.allSettled([pipeline(socket, onward), pipeline(onward, socket)]);
    void ways.then(() => connections--);
  }).listen(0, "127.0.0.1");
  await once(between, "listening");
  try {
    const url = `http://127.0.0.1:${(between.address() as AddressInfo).port}`;
    const client = createClient(SessionService, createMeshTransport(url));
    const calls = Array.from({ length: ALL }, (_, index) => client.listSessions({ limit: index % 100 }, { headers: server.headers }));
    const answered = Promise.all(calls);
    await Promise.race([allBegun.promise, answered]);
    expect(connections).toBe(3);
    gate.resolve();
    expect((await answered).map(({ sessions }) => sessions[0]!.title)).toEqual(calls.map((_, index) => String(index % 100)));
    await expect.poll(() => connections).toBe(1);
  } finally {
    gate.resolve();
    await server.close();
    between.close();
  }
});
