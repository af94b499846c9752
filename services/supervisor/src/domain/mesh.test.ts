import { mkdtempSync, rmSync } from "node:fs";
import { EventEmitter, once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { testLog } from "@hlvm/testing/test-log";
import { fakeService } from "../testing/fake-process.ts";
import { isRunning } from "../testing/process-ended.ts";
import { Mesh } from "./mesh.ts";
import type { ManagedProcess } from "./managed-process.ts";
import { restartPause } from "./restart-policy.ts";
import type { ProcessStatus } from "./supervised-process.ts";

const directory = mkdtempSync(join(tmpdir(), "hlvm-mesh-"));
const restart = { firstPauseMilliseconds: 1, maximumPauseMilliseconds: 8, resetAfterMilliseconds: 60_000 };
const health = { intervalMilliseconds: 60_000, deadlineMilliseconds: 60_000, maximumMisses: 3 };

afterAll(() => rmSync(directory, { recursive: true }));

/** Parts whose starts and ends are written down. */
function diary() {
  const entries: string[] = [];
  const managed = (kind: Pick<ManagedProcess, "name"> & Partial<ManagedProcess>): ManagedProcess => ({
    logFile: `/${kind.name}.log`,
    needs: [],
    layer: "back",
    start: async () => {
      entries.push(`+${kind.name}`);
      const ended = new EventEmitter();
      return {
        pid: 1,
        check: async () => undefined,
        ended: once(ended, "end").then(() => "code 0"),
        stop: async () => {
          entries.push(`-${kind.name}`);
          ended.emit("end");
        },
      };
    },
    ...kind,
  });
  return { entries, managed };
}

function meshOf(processes: readonly ManagedProcess[], events: { lines?: string[]; changes?: EventEmitter } = {}): Mesh {
  return new Mesh(processes, { restart, health }, testLog, {
    onProgress: (line) => events.lines?.push(line),
    onChange: () => events.changes?.emit("change"),
  });
}

const failure = new HlvmError({ code: "unavailable", reason: "broken", message: "It broke." });
const breaks = { start: () => Promise.reject(failure) };

describe("Mesh", () => {
  it("starts a process when what it needs is up, and ends what is public before the stores", async () => {
    const { entries, managed } = diary();
    const mesh = meshOf([
      managed({ name: "store", layer: "store" }),
      managed({ name: "policy", needs: ["store"] }),
      managed({ name: "edge", layer: "front" }),
    ]);
    await mesh.start();
    expect(entries.indexOf("+store")).toBeLessThan(entries.indexOf("+policy"));
    entries.length = 0;
    await mesh.stop();
    expect(entries).toEqual(["-edge", "-policy", "-store"]);
  });

  it("takes everything down again when a process cannot start, and starts nothing that needed it", async () => {
    const { entries, managed } = diary();
    const mesh = meshOf([
      managed({ name: "store", layer: "store" }),
      managed({ name: "policy", ...breaks }),
      managed({ name: "edge", needs: ["policy"] }),
    ]);
    await expect(mesh.start()).rejects.toBe(failure);
    expect(mesh.failedProcess).toBe("policy");
    expect(entries).toEqual(["+store", "-store"]);
  });

  it("goes on without a process that it can do without, and says so", async () => {
    const { entries, managed } = diary();
    const lines: string[] = [];
    const mesh = meshOf([managed({ name: "search", ...breaks, without: "Memory searches in PostgreSQL." }), managed({ name: "memory" })], {
      lines,
    });
    await mesh.start();
    expect(entries).toEqual(["+memory"]);
    expect(lines).toEqual(["It broke. Memory searches in PostgreSQL. (log: /search.log)"]);
    await mesh.stop();
  });

  it("gives a start up, and says nothing then of what it could do without", async () => {
    const { entries, managed } = diary();
    const lines: string[] = [];
    const waits: ManagedProcess["start"] = (signal) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
    const mesh = meshOf(
      [
        managed({ name: "store", layer: "store" }),
        managed({ name: "search", start: waits, without: "Memory searches in PostgreSQL." }),
        managed({ name: "edge", needs: ["search"] }),
      ],
      { lines },
    );
    const start = mesh.start();
    await expect.poll(() => entries).toEqual(["+store"]);
    await mesh.stop();
    await expect(start).rejects.toThrow("aborted");
    expect({ entries, lines }).toEqual({ entries: ["+store", "-store"], lines: [] });
  });

  it("starts a service that died again, and ends the new process", async () => {
    const changes = new EventEmitter();
    const mesh = meshOf([fakeService(directory, { name: "policy" })], { changes });
    await mesh.start();
    const supervised = mesh.processes[0]!;
    const { pid: first, port } = supervised.running!;
    process.kill(first, "SIGKILL");
    await once(changes, "change");
    expect(supervised).toMatchObject({ running: undefined, port, status: { state: "down", reason: "it ended by itself (SIGKILL)" } });
    while (supervised.status.state !== "up") await once(changes, "change");
    const second = supervised.running!.pid;
    expect(second).not.toBe(first);
    expect(supervised.port).toBe(port);
    await mesh.stop();
    expect([first, second].map(isRunning)).toEqual([false, false]);
  });

  it("tries a process that dies again and again for ever, and says since when it is down, why, and when it is tried next", async () => {
    let starts = 0;
    const dies: ManagedProcess = {
      name: "policy",
      logFile: "/policy.log",
      needs: [],
      layer: "back",
      start: async () => {
        if (++starts > 1) throw failure;
        return { pid: starts, check: async () => undefined, ended: Promise.resolve("code 1"), stop: async () => undefined };
      },
    };
    const changes = new EventEmitter();
    const mesh = meshOf([dies], { changes });
    const supervised = mesh.processes[0]!;
    const seen: ProcessStatus[] = [];
    changes.on("change", () => seen.push(supervised.status));
    await mesh.start();
    await expect.poll(() => starts).toBeGreaterThan(12);
    await mesh.stop();
    expect(supervised.running).toBeUndefined();
    const down = seen.filter(({ state }) => state === "down");
    expect(new Set(down.map(({ since }) => since)).size).toBe(1);
    expect(down[0]).toMatchObject({ reason: "it ended by itself (code 1)" });
    expect(down.at(-1)).toMatchObject({ reason: "It broke." });
    expect(down.some(({ nextAttempt }) => nextAttempt !== undefined && nextAttempt > down[0]!.since)).toBe(true);
  });

  it("tries a process again that it can do without and that could not be started at first", async () => {
    let starts = 0;
    const { managed } = diary();
    const comesLate = managed({ name: "search", without: "Memory searches in PostgreSQL." });
    const start: ManagedProcess["start"] = (signal) => (++starts < 4 ? Promise.reject(failure) : comesLate.start(signal));
    const mesh = meshOf([{ ...comesLate, start }]);
    await mesh.start();
    expect(mesh.processes[0]!.status).toMatchObject({ state: "down", reason: "It broke." });
    await expect.poll(() => mesh.processes[0]!.status.state).toBe("up");
    await mesh.stop();
  });
});

it("waits twice as long before every attempt, up to a limit", () => {
  const pauses = [0, 1, 2, 3, 4, 1_100].map((failures) => restartPause(restart, failures));
  expect(pauses).toEqual([1, 2, 4, 8, 8, 8]);
});
