import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** Between a caller and its server: it destroys both connections once so many bytes of answers have passed. */
export class CuttingProxy {
  /** Of answers, since `cutAfter` was set. */
  passed = 0;
  cutAfter = Number.POSITIVE_INFINITY;
  readonly #sockets = new Set<Socket>();

  static async to(port: number): Promise<CuttingProxy & { readonly url: string }> {
    const proxy = new CuttingProxy();
    const server = createServer((down) => {
      const up = connect(port, "127.0.0.1");
      for (const socket of [down, up]) {
        proxy.#sockets.add(socket);
        socket
          .on("error", () => undefined)
          .once("close", () => {
            proxy.#sockets.delete(socket);
            down.destroy();
            up.destroy();
          });
      }
      down.pipe(up);
      up.on("data", (bytes: Buffer) => {
        const room = proxy.cutAfter - proxy.passed;
        proxy.passed += bytes.length;
        if (bytes.length < room) return void down.write(bytes);
        proxy.cutAfter = Number.POSITIVE_INFINITY;
        down.write(bytes.subarray(0, room), () => proxy.cut());
      });
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    onTestFinished(() => {
      proxy.cut();
      server.close();
    });
    return Object.assign(proxy, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
