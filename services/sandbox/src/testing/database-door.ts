import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A way to the same database that can be shut and opened again, as a network can. */
export async function databaseDoor(url: string) {
  const folder = mkdtempSync(join(tmpdir(), "hlvm-door-"));
  const server = new URL(url.replace("@/", "@local/")).searchParams.get("host")!;
  const sockets = new Set<Socket>();
  let isShut = false;
  const door = createServer((socket) => {
    sockets.add(socket.on("close", () => sockets.delete(socket)).on("error", () => undefined));
    if (isShut) return void socket.destroy();
    const inner = connect(join(server, ".s.PGSQL.5432")).on("error", () => undefined);
    socket.pipe(inner).pipe(socket);
    socket.on("close", () => inner.destroy());
    inner.on("close", () => socket.destroy());
  }).listen(join(folder, ".s.PGSQL.5432"));
  await once(door, "listening");
  return {
    url: url.replace(encodeURIComponent(server), encodeURIComponent(folder)),
    shut: (): void => {
      isShut = true;
      for (const socket of sockets) socket.destroy();
    },
    open: (): void => {
      isShut = false;
    },
    close: (): void => {
      door.close();
      for (const socket of sockets) socket.destroy();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
