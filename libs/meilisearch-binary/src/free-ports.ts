import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";

/**
 * Loopback ports that nobody had a moment ago, all different. Somebody may take one before it is used; whoever starts a
 * server on it has to try again with another then.
 */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
  await Promise.all(servers.map((server) => once(server, "listening")));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => once(server.close(), "close")));
  return ports;
}
