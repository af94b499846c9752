import { writeFileSync } from "node:fs";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { runService } from "../run-service.ts";

// A service that behaves as a test says, by the word that it is started with.
const behaviour = process.argv[2];

if (behaviour === "loads long") await new Promise((resolve) => process.once("disconnect", resolve));
await runService("scripted", async (log) => {
  if (behaviour === "cannot start")
    throw new HlvmError({ code: "unavailable", reason: "no_disk", message: "There is no disk.", advice: "Buy one." });
  if (behaviour === "cannot start for no known reason") throw new Error("it broke");
  if (behaviour === "is told to stop while it starts") {
    const stopped = new Promise((resolve) => process.once("SIGTERM", resolve));
    writeFileSync(1, "begun\n");
    await stopped;
  }
  const stayAlive = setInterval(() => {}, 60_000);
  process.on("message", () => {
    if (behaviour === "throws later") throw new Error("it broke later");
    void Promise.reject(new Error("nobody waited for it"));
  });
  return {
    port: 4_711,
    close: async () => {
      log.info("closing");
      if (behaviour === "cannot close") throw new Error("it would not close");
      await new Promise((resolve) => setImmediate(resolve));
      writeFileSync(1, "closed\n");
      clearInterval(stayAlive);
    },
  };
});
