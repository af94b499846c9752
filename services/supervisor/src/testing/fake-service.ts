import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { messageOf } from "@hlvm/errors/message-of";
import { runService } from "@hlvm/service/run-service";

// A service of which a test says how it behaves: FAKE_BEHAVIOUR.
const behaviour = process.env.FAKE_BEHAVIOUR ?? "";

if (behaviour === "dies at start") {
  console.error("the disk is on fire");
  process.exit(3);
}
if (behaviour === "starts only once") {
  if (existsSync("started-once")) process.exit(3);
  writeFileSync("started-once", "");
}
if (behaviour === "ignores SIGTERM") {
  process.on("SIGTERM", () => undefined);
  setInterval(() => undefined, 1_000);
  process.send?.({ kind: "ready", service: "fake", port: 1 });
} else if (behaviour === "is never ready") {
  console.log(process.pid);
  await new Promise((resolve) => setTimeout(resolve, 60_000));
} else {
  await runService("fake", async () => {
    const server = createServer().listen(Number(process.env.HLVM_PORT), process.env.HLVM_HOST);
    await once(server, "listening").catch((cause: unknown) => {
      throw new Error(`cannot listen: ${messageOf(cause)}`);
    });
    return { port: (server.address() as AddressInfo).port, close: async () => void server.close() };
  });
}
