import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { nodeFlags } from "./node-flags.ts";

const MAIN = fileURLToPath(new URL("testing/serve-scripted.ts", import.meta.url));
const COLLECTED = "Mark-Compact (reduce)";
const COLLECTED_WITHIN = { timeout: 25_000 };

/** A service that is up, and what it and V8, which names each collection, have written. */
async function start(behaviour: string) {
  const child = fork(MAIN, [behaviour], {
    execArgv: [...nodeFlags("scripted"), "--trace-gc"],
    stdio: ["ignore", "pipe", "ignore", "ipc"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const service = { output: "" };
  child.stdout!.setEncoding("utf8").on("data", (text: string) => (service.output += text));
  await once(child, "message");
  return service;
}

describe("collectOnceIdle", () => {
  it("collects all garbage of a service that is idle", async () => {
    const service = await start("");
    await expect.poll(() => service.output, COLLECTED_WITHIN).toContain(COLLECTED);
  });

  it("lets a busy service go on until it is idle", async () => {
    const service = await start("is busy for six seconds");
    await expect.poll(() => service.output, COLLECTED_WITHIN).toContain(COLLECTED);
    expect(service.output.indexOf("idle\n")).toBeGreaterThan(-1);
    expect(service.output.indexOf("idle\n")).toBeLessThan(service.output.indexOf(COLLECTED));
  });
});
