import { existsSync, writeFileSync } from "node:fs";
import type { Interceptor } from "@connectrpc/connect";
import { runService } from "@hlvm/service/run-service";
import { startRpcServer } from "@hlvm/rpc/start-rpc-server";

// A service of which a test says how it behaves: FAKE_BEHAVIOUR. On SIGUSR2 its event loop is blocked for BUSY_MILLISECONDS.
const behaviour = process.env.FAKE_BEHAVIOUR ?? "";

const BUSY_MILLISECONDS = 1_000;

if (behaviour === "dies at start") {
  console.error("the disk is on fire");
  process.exit(3);
}
if (behaviour === "starts only once") {
  if (existsSync("started-once")) process.exit(3);
  writeFileSync("started-once", "");
}
if (behaviour === "reports its flags") console.log(`flags: ${JSON.stringify(process.execArgv)}`);
process.on("SIGUSR2", () => {
  const end = performance.now() + (behaviour === "hangs" ? Infinity : BUSY_MILLISECONDS);
  while (performance.now() < end);
});
if (behaviour === "ignores SIGTERM") {
  process.on("SIGTERM", () => undefined);
  setInterval(() => undefined, 1_000);
  process.send?.({ kind: "ready", service: "fake", port: 1 });
} else if (behaviour === "is never ready") {
  console.log(process.pid);
  await new Promise((resolve) => setTimeout(resolve, 60_000));
} else {
  await runService("fake", async (log) => {
    const { HLVM_HOST: host = "127.0.0.1", HLVM_PORT: port } = process.env;
    const authenticate: Interceptor = (next) => next;
    return startRpcServer({ host, port: Number(port), log, routes: () => undefined, services: [], authenticate });
  });
}
