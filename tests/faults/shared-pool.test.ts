import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { readMeshState } from "@hlvm/mesh/mesh-state";
import { startLlamaServer, type LlamaServer } from "@hlvm/testing/llama-server";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createWorkspace, linesOf } from "../e2e/test-mesh.ts";
import { startDoorMesh, userToken, type DoorMesh } from "../model-doors/door-mesh.ts";
import { doorClients, type DoorAnswer } from "./door-clients.ts";
import { WatchedServers } from "./watched-servers.ts";

const DOORS = ["chat", "responses", "messages"] as const;
const SLOTS = 2;
const TOKENS = 256;
const RUNS = 4;
const ROUNDS = 3;

const size = { width: 256, blocks: 6 };
const flags = ["--ignore-eos", "--ctx-size", "16384"];
const attempts = await Promise.all([0, 1].map(() => startLlamaServer(SLOTS, { size, flags })));
const missing = attempts.find((attempt) => "unavailable" in attempt);
const reason = missing === undefined ? "" : ` (skipped: ${missing.unavailable})`;

describe.skipIf(reason !== "")(`two gateways of a mesh share two llama-servers${reason}`, () => {
  const servers = attempts as readonly LlamaServer[];
  let mesh: DoorMesh;
  let clients: ReturnType<typeof doorClients>;
  let workspace: string;
  let watched: WatchedServers;

  beforeAll(async () => {
    workspace = await createWorkspace({ "README.md": "# Loom\n" });
    mesh = await startDoorMesh({
      HLVM_REPLICAS: "2",
      HLVM_LLAMA_URLS: servers.map(({ url }) => url).join(","),
      HLVM_MODEL: "llama/random",
      // Every answer is as long as the next.
      HLVM_OUTPUT_RESERVE_TOKENS: String(TOKENS),
    });
    clients = doorClients(mesh.url, (await mesh.token()).secret);
    watched = new WatchedServers(servers.map(({ url }) => url));
  }, 120_000);
  afterAll(async () => {
    await watched?.stop();
    await mesh?.stop();
    await Promise.all(servers.map((server) => server.stop()));
    rmSync(workspace, { recursive: true });
  });

  /** @returns the last line of a run */
  async function run(text: string): Promise<unknown> {
    const folder = join(workspace, text);
    mkdirSync(folder);
    const answer = await fetch(`${mesh.url}/api/chat`, {
      method: "POST",
      headers: { authorization: `Bearer ${userToken(mesh)}` },
      body: JSON.stringify({ messages: [{ role: "user", content: text }], workspace: folder }),
    });
    return linesOf({ stdout: await answer.text() }).at(-1);
  }

  function callDoors(name: string, onPiece: () => void): Promise<DoorAnswer>[] {
    return DOORS.map((door) => clients[door].stream({ model: "llama/random", text: `${name}, ${door}`, tokens: TOKENS }, onPiece));
  }

  /** What each gateway says of the pool, once both are there and have found both servers. */
  async function bothPools(): Promise<unknown[]> {
    const seen = new Map<unknown, unknown>();
    const look = async (): Promise<number> => {
      const [pool] = await mesh.rows("model", "pool");
      const instances = (pool?.instances ?? []) as readonly { readonly state: string }[];
      if (instances.filter(({ state }) => state === "ready").length === servers.length) seen.set(pool!.replica, pool);
      return seen.size;
    };
    await expect.poll(look, { timeout: 60_000 }).toBe(2);
    return [...seen.values()];
  }

  const gateway = (name: string) => readMeshState(mesh.directory)!.services.find((service) => service.name === name)!;

  it("never gives a server more than its slots, and loses nothing where one of the gateways is killed, twice", async () => {
    let pieces = 0;
    const rounds = [];
    for (let index = 0; index < ROUNDS; index++) {
      // With both away nobody begins, and a start has 15 s.
      if (index > 1) await vi.waitUntil(() => gateway(`model-gateway-${index - 1}`).state === "up", { timeout: 60_000 });
      const runs = Array.from({ length: RUNS }, (_empty, count) => run(`round-${index}-${count}`));
      rounds.push({ runs, calls: callDoors(`round-${index}`, () => void pieces++) });
      // Answers are under way, and others wait: the next round comes while it is gone.
      const before = pieces;
      await expect.poll(() => pieces, { timeout: 60_000, interval: 20 }).toBeGreaterThan(before + 50);
      if (index < ROUNDS - 1) process.kill(gateway(`model-gateway-${index + 1}`).pid!, "SIGKILL");
    }
    for (const { runs, calls } of rounds) {
      for (const line of await Promise.all(runs)) expect(line).toMatchObject({ type: "final", stop_reason: "completed" });
      for (const answer of await Promise.all(calls)) expect(answer).toMatchObject({ error: "", hasEnded: true, outputTokens: TOKENS });
    }
    expect(watched.mostDeferred).toBe(0);
    // With one of the gateways away it may be that no server has two at a time; that all slots are used the next test demands.
    expect(watched.mostProcessing).toBeGreaterThan(0);
    expect(watched.mostProcessing).toBeLessThanOrEqual(SLOTS);
  }, 300_000);

  it("has every slot again: all of them are used, and all are free in the end", async () => {
    await expect.poll(() => watched.processing, { timeout: 60_000 }).toEqual([0, 0]);
    // The one that was killed last may still be starting, and until the other one knows it has ended that one's slots are not used.
    await bothPools();
    watched.forget();
    await Promise.all(["one", "two", "three"].flatMap((name) => callDoors(name, () => undefined)));
    expect(watched.mostTogether).toBe(SLOTS * servers.length);
    expect(watched.mostDeferred).toBe(0);
    await expect.poll(() => watched.processing, { timeout: 30_000 }).toEqual([0, 0]);
    for (const pool of await bothPools()) {
      expect(pool).toMatchObject({ queued_interactive: 0, queued_batch: 0 });
      expect(pool).toMatchObject({ instances: servers.map(() => ({ state: "ready", slots: SLOTS, own_slots: 1, in_flight: 0 })) });
    }
  }, 120_000);
});
