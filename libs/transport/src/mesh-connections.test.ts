import { once } from "node:events";
import { createServer, type ServerHttp2Session } from "node:http2";
import type { AddressInfo } from "node:net";
import { createClient } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { expect, it, onTestFinished } from "vitest";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { createMeshTransport } from "./create-mesh-transport.ts";

const CALLS = 200;

it("goes on where a connection without calls is told to go away in the moment in which the next call is made", async () => {
  const routes = connectNodeAdapter({ routes: (router) => void router.service(SessionService, { listSessions: () => ({}) }) });
  const server = createServer(routes);
  const sessions = new Set<ServerHttp2Session>();
  server.on("session", (session) => {
    sessions.add(session);
    session.on("stream", (stream) => stream.on("close", () => !session.destroyed && session.goaway()));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const session of sessions) session.destroy();
    server.close();
  });
  const uncaught: unknown[] = [];
  const hear = (error: unknown): void => void uncaught.push(error);
  process.prependListener("uncaughtException", hear);
  onTestFinished(() => void process.off("uncaughtException", hear));
  const client = createClient(SessionService, createMeshTransport(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  for (let call = 0; call < CALLS; call++) {
    await client.listSessions({});
    // In one of these moments the connection has been told, and has not ended yet.
    for (let turn = 0; turn < call % 4; turn++) await new Promise(setImmediate);
  }
  expect(uncaught).toEqual([]);
  expect(sessions.size).toBeGreaterThan(CALLS / 4);
});
