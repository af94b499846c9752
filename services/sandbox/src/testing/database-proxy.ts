import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A proxy before the same database that can be cut and restored, as a network can. */
export async function databaseProxy(url: string) {
  const folder = mkdtempSync(join(tmpdir(), "hlvm-proxy-"));
  const server = new URL(url.replace("@/", "@local/")).searchParams.get("host")!;
  const sockets = new Set<Socket>();
  let isCut = false;
  const proxy = createServer((socket) => {
    sockets.add(socket.on("close", () => sockets.delete(socket)).on("error", () => undefined));
    if (isCut) return void socket.destroy();
    const inner = connect(join(server, ".s.PGSQL.5432")).on("error", () => undefined);
    socket.pipe(inner).pipe(socket);
    socket.on("close", () => inner.destroy());
    inner.on("close", () => socket.destroy());
  }).listen(join(folder, ".s.PGSQL.5432"));
  await once(proxy, "listening");
  return {
    url: url.replace(encodeURIComponent(server), encodeURIComponent(folder)),
    cut: (): void => {
      isCut = true;
      for (const socket of sockets) socket.destroy();
    },
    restore: (): void => {
      isCut = false;
    },
    close: (): void => {
      proxy.close();
      for (const socket of sockets) socket.destroy();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
