import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";

/** A loopback port that nobody had a moment ago; somebody may take it before it is used. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

export async function isPortTaken(port: number): Promise<boolean> {
  const server = createServer();
  const taken = new Promise<boolean>((resolve) => {
    server.once("error", () => resolve(true));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(false)));
  });
  return taken;
}
