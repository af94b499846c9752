import { once } from "node:events";
import { connect, type AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import { bothProtocols, type BothProtocols } from "./both-protocols.ts";
import { CONNECTION_LIMITS } from "./server/connection-limits.ts";

const HEAD_MILLISECONDS = 100;
const limits = { ...CONNECTION_LIMITS, requestHeadMilliseconds: HEAD_MILLISECONDS };

let both: BothProtocols;

beforeEach(async () => {
  both = bothProtocols((_, response) => void response.end("here"), { limits, closeGraceMilliseconds: 100, isMesh: false });
  both.server.listen(0, "127.0.0.1");
  await once(both.server, "listening");
});
afterEach(() => both.close());

/** Keeps this process from doing anything else. */
function block(milliseconds: number): void {
  const endsAt = performance.now() + milliseconds;
  while (performance.now() < endsAt);
}

it("answers a request that came in time, to a server that was too busy to see it in time", async () => {
  const accepted = once(both.server, "connection");
  const socket = connect({ port: (both.server.address() as AddressInfo).port, host: "127.0.0.1" });
  await Promise.all([accepted, once(socket, "connect")]);
  const answer = once(socket, "data");
  socket.write("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
  block(2 * HEAD_MILLISECONDS);
  expect(String((await answer)[0])).toMatch(/^HTTP\/1\.1 200/);
  socket.destroy();
}, 5_000);
