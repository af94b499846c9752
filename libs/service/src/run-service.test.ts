import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";

const MAIN = fileURLToPath(new URL("testing/serve-scripted.ts", import.meta.url));

const processes: ChildProcess[] = [];

afterEach(() => {
  for (const child of processes.splice(0)) child.kill("SIGKILL");
});

/** The process, all that it has written, and how it ends: its exit code and signal. */
function start(behaviour: string) {
  const child = fork(MAIN, [behaviour], { execArgv: [], stdio: ["ignore", "pipe", "pipe", "ipc"] });
  processes.push(child);
  // A process that was let go of tells no `close`.
  const ended = Promise.all([once(child, "exit"), once(child.stdout!, "end")]).then(([exit]) => exit as [number | null, string | null]);
  const service = { child, output: "", ended };
  child.stdout!.setEncoding("utf8").on("data", (text: string) => (service.output += text));
  return service;
}

async function startReady(behaviour: string) {
  const service = start(behaviour);
  expect(await once(service.child, "message")).toEqual([{ kind: "ready", service: "scripted", port: 4_711 }, undefined]);
  return service;
}

describe("runService", () => {
  it.each(["SIGTERM", "SIGINT"] as const)("says when it is up, and closes on %s before it ends", async (signal) => {
    const service = await startReady("");
    service.child.kill(signal);
    expect(await service.ended).toEqual([0, null]);
    expect(service.output).toMatch(new RegExp(`"why":"${signal}"[\\s\\S]*closed\\n`));
  });

  it("closes when the process that started it is gone", async () => {
    const service = await startReady("");
    service.child.disconnect();
    expect(await service.ended).toEqual([0, null]);
    expect(service.output).toMatch(/"why":"the process that started it is gone"[\s\S]*closed\n/);
  });

  it("ends when the process that started it went while it was still being loaded", async () => {
    const service = start("loads long");
    await once(service.child, "spawn");
    service.child.disconnect();
    expect(await service.ended).toEqual([0, null]);
  });

  it("lets a start that is under way come to its end, and closes what it has begun", async () => {
    const service = start("is told to stop while it starts");
    const messages: unknown[] = [];
    service.child.on("message", (message) => messages.push(message));
    await expect.poll(() => service.output).toContain("begun\n");
    service.child.kill("SIGTERM");
    expect(await service.ended).toEqual([0, null]);
    expect(service.output).toContain("closed\n");
    expect(messages).toEqual([]);
  });

  it("closes once, however often it is told to", async () => {
    const service = await startReady("");
    service.child.kill("SIGTERM");
    service.child.kill("SIGINT");
    service.child.disconnect();
    expect(await service.ended).toEqual([0, null]);
    expect(service.output.match(/closed\n/g)).toHaveLength(1);
  });

  it("tells its starter why it could not start, with what to do", async () => {
    const service = start("cannot start");
    const failed = { kind: "failed", service: "scripted", reason: "no_disk", message: "There is no disk.", advice: "Buy one." };
    expect(await once(service.child, "message")).toEqual([failed, undefined]);
    expect(await service.ended).toEqual([1, null]);
    expect(service.output).toContain('"msg":"cannot go on"');
  });

  it("tells its starter of an error that nobody foresaw", async () => {
    const service = start("cannot start for no known reason");
    const [message] = await once(service.child, "message");
    expect(message).toMatchObject({ kind: "failed", reason: "unexpected", message: "it broke", advice: "" });
    expect(await service.ended).toEqual([1, null]);
  });

  it.each(["throws later", "rejects later"])("does not go on after an error that nobody caught: %s", async (behaviour) => {
    const service = await startReady(behaviour);
    service.child.send("now");
    expect(await service.ended).toEqual([1, null]);
    expect(service.output).toContain('"msg":"cannot go on"');
  });

  it("ends with 1 where it cannot close", async () => {
    const service = await startReady("cannot close");
    service.child.kill("SIGTERM");
    expect(await service.ended).toEqual([1, null]);
  });
});
