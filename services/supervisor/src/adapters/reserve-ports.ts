import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";

/**
 * Free loopback ports, all different. They are let go at once, so that somebody else may be quicker; the start is then
 * tried again with others.
 */
export async function reservePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
  await Promise.all(servers.map((server) => once(server, "listening")));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => once(server.close(), "close")));
  return ports;
}
