import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startLlamaServer, type LlamaServer } from "@hlvm/testing/llama-server";
import { createTestIdentity, testPrincipal, type TestIdentity } from "@hlvm/testing/test-identity";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { ResumingCaller } from "./testing/resuming-caller.ts";

const MAIN = fileURLToPath(new URL("main.ts", import.meta.url));
/** Slow enough for a gateway to be killed in the middle of its answers. */
const attempt = await startLlamaServer(1, { size: { width: 512, blocks: 8 }, flags: ["--ignore-eos"] });
const reason = "unavailable" in attempt ? ` (skipped: ${attempt.unavailable})` : "";
const TOKENS = 300;
/** Longer than a gateway takes to stop. */
const LONG = 1_500;

describe.skipIf(reason !== "")(`a gateway that is killed while a real llama-server answers${reason}`, () => {
  const llama = attempt as LlamaServer;
  let folder: string;
  let identity: TestIdentity;
  let gateway: ChildProcess;
  let url: string;
  let caller: ResumingCaller;

  async function start(resumeSeconds = 5): Promise<void> {
    gateway = fork(MAIN, {
      env: {
        PATH: process.env.PATH,
        HLVM_TOKEN_PUBLIC_KEYS: join(folder, "keys.json"),
        HLVM_LLAMA_URLS: llama.url,
        HLVM_LOG_LEVEL: "warn",
        HLVM_RESUME_KEY: "a secret of the mesh",
        HLVM_RESUME_SECONDS: String(resumeSeconds),
      },
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    const [started] = (await once(gateway, "message")) as [{ readonly port: number }];
    url = `http://127.0.0.1:${started.port}`;
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    if (gateway.exitCode !== null || gateway.signalCode !== null) return;
    const exited = once(gateway, "exit");
    gateway.kill(signal);
    await exited;
  }

  const busySlots = async (): Promise<number> => {
    const slots = (await (await fetch(`${llama.url}/slots`)).json()) as readonly { readonly is_processing: boolean }[];
    return slots.filter((slot) => slot.is_processing).length;
  };
  const said = () => caller.come.flatMap(({ event, sequence }) => (event.case === "textDelta" ? [{ sequence, text: event.value }] : []));

  /** Asks, and lets the gateway be killed when a little of the answer has come. */
  async function askAndKill(text: string, signal: NodeJS.Signals, tokens = TOKENS): Promise<void> {
    const lost = caller.ask("llama/random", text, undefined, tokens).catch(() => undefined);
    await expect.poll(() => caller.come.length, { interval: 5 }).toBeGreaterThan(20);
    await end(signal);
    await lost;
    expect(caller.come.at(-1)?.event.case).toBe("textDelta");
  }

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "hlvm-killed-gateway-"));
    identity = await createTestIdentity();
    writeFileSync(join(folder, "keys.json"), JSON.stringify({ keys: identity.tokenKeys }));
    caller = new ResumingCaller(
      () => createMeshTransport(url),
      () => identity.minter.mint(testPrincipal, "model-gateway"),
    );
    await start();
  });
  afterEach(async () => {
    await end("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });
  afterAll(() => llama.stop());

  it("loses nothing of it: the next process goes on at the last piece, of the same answer", async () => {
    await caller.ask("llama/random", "Go on.", undefined, TOKENS);
    const whole = said();
    await askAndKill("Go on.", "SIGKILL");
    await start();
    await caller.resumeToTheEnd();
    expect(said()).toEqual(whole);
    const usages = caller.come.filter(({ event }) => event.case === "usage");
    expect(usages).toMatchObject([{ event: { value: { outputTokens: BigInt(TOKENS) } } }]);
  });

  it("is told of a cancel by the next process, long before its answer would end", async () => {
    await askAndKill("For long.", "SIGKILL", 20_000);
    expect(await busySlots()).toBe(1);
    await start();
    const cancelled = new AbortController();
    const before = caller.come.length;
    const resumed = caller.resume({}, cancelled.signal).catch(() => undefined);
    await expect.poll(() => caller.come.length, { interval: 5 }).toBeGreaterThan(before + 5);
    cancelled.abort();
    await expect.poll(busySlots, { interval: 5 }).toBe(0);
    await resumed;
    expect(caller.come.map(({ event }) => event.case)).not.toContain("finish");
  });

  it("has it ended by the next process where nobody comes back", async () => {
    await askAndKill("For very long.", "SIGKILL", 30_000);
    await start(1);
    await expect.poll(busySlots, { timeout: 20_000 }).toBe(0);
    await expect(caller.resume()).rejects.toThrow(/cannot be resumed/);
  });

  it("is stopped in order: a short answer ends in it, and a long one goes on in the next", async () => {
    const short = caller.ask("llama/random", "Short.", undefined, 150);
    await expect.poll(() => caller.come.length, { interval: 5 }).toBeGreaterThan(5);
    await end("SIGTERM");
    await short;
    expect(caller.come.at(-1)?.event.case).toBe("finish");
    await start();
    await askAndKill("Long.", "SIGTERM", LONG);
    await start();
    await caller.resumeToTheEnd();
    expect(caller.come.filter(({ event }) => event.case === "usage")).toMatchObject([{ event: { value: { outputTokens: BigInt(LONG) } } }]);
  });
});
