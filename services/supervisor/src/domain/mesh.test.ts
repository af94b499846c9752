import { mkdtempSync, rmSync } from "node:fs";
import { EventEmitter, once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { testLog } from "@hlvm/testing/test-log";
import { fakeService } from "../testing/fake-part.ts";
import { isRunning } from "../testing/process-ended.ts";
import { Mesh } from "./mesh.ts";
import type { Part } from "./part.ts";

const directory = mkdtempSync(join(tmpdir(), "hlvm-mesh-"));
const patience = { restartMilliseconds: [1, 1], steadyMilliseconds: 60_000 };

afterAll(() => rmSync(directory, { recursive: true }));

/** Parts whose starts and ends are written down. */
function diary() {
  const entries: string[] = [];
  const part = (kind: Pick<Part, "name"> & Partial<Part>): Part => ({
    logFile: `/${kind.name}.log`,
    needs: [],
    layer: "back",
    start: async () => {
      entries.push(`+${kind.name}`);
      const ended = new EventEmitter();
      return {
        pid: 1,
        ended: once(ended, "end").then(() => "code 0"),
        stop: async () => {
          entries.push(`-${kind.name}`);
          ended.emit("end");
        },
      };
    },
    ...kind,
  });
  return { entries, part };
}

function meshOf(parts: readonly Part[], events: { lines?: string[]; changes?: EventEmitter } = {}): Mesh {
  return new Mesh(parts, patience, testLog, {
    onProgress: (line) => events.lines?.push(line),
    onChange: () => events.changes?.emit("change"),
  });
}

const failure = new HlvmError({ code: "unavailable", reason: "broken", message: "It broke." });
const breaks = { start: () => Promise.reject(failure) };

describe("Mesh", () => {
  it("starts a part when what it needs is up, and ends the doors before the stores", async () => {
    const { entries, part } = diary();
    const mesh = meshOf([
      part({ name: "store", layer: "store" }),
      part({ name: "policy", needs: ["store"] }),
      part({ name: "edge", layer: "front" }),
    ]);
    await mesh.start();
    expect(entries.indexOf("+store")).toBeLessThan(entries.indexOf("+policy"));
    entries.length = 0;
    await mesh.stop();
    expect(entries).toEqual(["-edge", "-policy", "-store"]);
  });

  it("takes everything down again when a part cannot start, and starts nothing that needed it", async () => {
    const { entries, part } = diary();
    const mesh = meshOf([
      part({ name: "store", layer: "store" }),
      part({ name: "policy", ...breaks }),
      part({ name: "edge", needs: ["policy"] }),
    ]);
    await expect(mesh.start()).rejects.toBe(failure);
    expect(mesh.failedPart).toBe("policy");
    expect(entries).toEqual(["+store", "-store"]);
  });

  it("goes on without a part that it can do without, and says so", async () => {
    const { entries, part } = diary();
    const lines: string[] = [];
    const mesh = meshOf([part({ name: "search", ...breaks, without: "Memory searches in PostgreSQL." }), part({ name: "memory" })], {
      lines,
    });
    await mesh.start();
    expect(entries).toEqual(["+memory"]);
    expect(lines).toEqual(["It broke. Memory searches in PostgreSQL. (log: /search.log)"]);
    await mesh.stop();
  });

  it("gives a start up, and says nothing then of what it could do without", async () => {
    const { entries, part } = diary();
    const lines: string[] = [];
    const waits: Part["start"] = (signal) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
    const mesh = meshOf(
      [
        part({ name: "store", layer: "store" }),
        part({ name: "search", start: waits, without: "Memory searches in PostgreSQL." }),
        part({ name: "edge", needs: ["search"] }),
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
    const part = mesh.parts[0]!;
    const { pid: first, port } = part.running!;
    process.kill(first, "SIGKILL");
    await once(changes, "change");
    expect(part).toMatchObject({ running: undefined, port });
    await once(changes, "change");
    const second = part.running!.pid;
    expect(second).not.toBe(first);
    expect(part.port).toBe(port);
    await mesh.stop();
    expect([first, second].map(isRunning)).toEqual([false, false]);
  });

  it("gives a part up that dies again and again", async () => {
    let starts = 0;
    const dies: Part = {
      name: "policy",
      logFile: "/policy.log",
      needs: [],
      layer: "back",
      start: async () => ({ pid: ++starts, ended: Promise.resolve("code 1"), stop: async () => undefined }),
    };
    const mesh = meshOf([dies]);
    await mesh.start();
    await expect.poll(() => starts).toBe(3);
    await mesh.stop();
    expect(starts).toBe(3);
    expect(mesh.parts[0]!.running).toBeUndefined();
  });
});
