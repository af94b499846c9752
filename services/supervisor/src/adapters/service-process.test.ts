import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { nodeFlags } from "@hlvm/service/node-flags";
import { fakeService } from "../testing/fake-process.ts";
import { isRunning } from "../testing/process-ended.ts";

const directory = mkdtempSync(join(tmpdir(), "hlvm-supervisor-"));
const never = new AbortController().signal;

afterAll(() => rmSync(directory, { recursive: true }));

describe("a service's process", () => {
  it("is up when it says so, and gone when it was stopped", async () => {
    const running = await fakeService(directory, { name: "policy" }).start(never);
    expect(running.port).toBeGreaterThan(0);
    expect(isRunning(running.pid)).toBe(true);
    await running.stop();
    expect(isRunning(running.pid)).toBe(false);
    expect(await running.ended).toBe("code 0");
  });

  it("that dies at start is told by name, port and log file, with the last lines of this start", async () => {
    writeFileSync(join(directory, "memory.log"), "the disk was full yesterday\n");
    const start = fakeService(directory, { name: "memory", port: 4_711, behaviour: "dies at start" }).start(never);
    await expect(start).rejects.toMatchObject({
      reason: "service_ended",
      message: "The service memory (on port 4711) ended while starting (code 3).",
      advice: `the disk is on fire\nIts log: ${join(directory, "memory.log")}`,
    });
  });

  it("that says why it cannot start is quoted", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const start = fakeService(directory, { name: "edge", port }).start(never);
    await expect(start).rejects.toMatchObject({
      message: expect.stringMatching(
        new RegExp(`The service edge \\(on port ${port}\\) could not start: Port ${port} .* is taken by another process`),
      ),
      advice: expect.stringContaining(join(directory, "edge.log")),
    });
    other.close();
  });

  it("is ended when its start is given up", async () => {
    const giveUp = new AbortController();
    const { logFile, start } = fakeService(directory, { name: "slow", behaviour: "is never ready" });
    const starting = start(giveUp.signal);
    await expect.poll(() => readFileSync(logFile, "utf8"), { timeout: 10_000 }).toMatch(/^\d+\n$/);
    const pid = Number(readFileSync(logFile, "utf8"));
    expect(isRunning(pid)).toBe(true);
    giveUp.abort(new Error("given up"));
    await expect(starting).rejects.toThrow("given up");
    expect(isRunning(pid)).toBe(false);
  });

  it("is killed when it has not stopped by itself in time", async () => {
    const running = await fakeService(directory, { name: "deaf", behaviour: "ignores SIGTERM" }).start(never);
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    const stopped = running.stop();
    vi.runAllTimers();
    vi.useRealTimers();
    await stopped;
    expect(await running.ended).toBe("SIGKILL");
    expect(isRunning(running.pid)).toBe(false);
  });

  it("runs with the flags of its service", async () => {
    for (const name of ["policy", "model-gateway"]) {
      const { logFile, start } = fakeService(directory, { name, behaviour: "reports its flags" });
      const running = await start(never);
      await running.stop();
      expect(readFileSync(logFile, "utf8")).toContain(`flags: ${JSON.stringify(nodeFlags(name))}\n`);
    }
    expect(nodeFlags("model-gateway")).not.toEqual(nodeFlags("policy"));
  });

  it("listens where it did before when it is started again", async () => {
    const managed = fakeService(directory, { name: "policy" });
    const first = await managed.start(never);
    await first.stop();
    const second = await managed.start(never);
    expect(second.port).toBe(first.port);
    await second.stop();
  });
});
