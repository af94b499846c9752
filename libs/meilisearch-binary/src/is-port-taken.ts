import { createServer } from "node:net";

/** Whether a server of somebody else listens on this loopback port. */
export async function isPortTaken(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once("error", () => resolve(true));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(false)));
  });
}
