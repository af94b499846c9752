import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startMeilisearch, type MeilisearchOptions } from "./start-meilisearch.ts";

let directory: string;
let options: MeilisearchOptions;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "hlvm-meilisearch-"));
  options = { directory: join(directory, "index"), logFile: join(directory, "log"), masterKey: "a key of sixteen bytes" };
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe("startMeilisearch", () => {
  it("answers to its key alone, and is gone when stopped", async () => {
    const server = await startMeilisearch(options);
    const version = (headers: Record<string, string>): Promise<Response> => fetch(`${server.url}/version`, { headers });
    expect((await version({ authorization: `Bearer ${options.masterKey}` })).status).toBe(200);
    expect((await version({})).status).toBe(401);
    await server.stop();
    await server.exited;
    await expect(version({})).rejects.toThrow();
  });

  it("names the port when it is taken", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    await expect(startMeilisearch({ ...options, port })).rejects.toMatchObject({
      reason: "port_taken",
      message: expect.stringContaining(String(port)),
    });
    other.close();
  });

  it("ends with its process when its start is given up", async () => {
    const giveUp = new AbortController();
    const given = { ...options, directory: join(directory, "given-up"), signal: giveUp.signal };
    const start = startMeilisearch(given);
    await expect.poll(() => existsSync(join(given.directory, "data")), { interval: 1, timeout: 10_000 }).toBe(true);
    giveUp.abort(new Error("given up"));
    await expect(start).rejects.toThrow("given up");
    expect(isNamedByAProcess(given.directory)).toBe(false);
  });

  it.each(["1.20.0", "99.1.0", "no version"])("throws away an index of version %s, and nothing of its own", async (version) => {
    const given = { ...options, directory: join(directory, version) };
    const authorization = `Bearer ${options.masterKey}`;
    const indexes = async ({ url }: { readonly url: string }): Promise<number> =>
      ((await (await fetch(`${url}/indexes`, { headers: { authorization } })).json()) as { total: number }).total;
    const first = await startMeilisearch(given);
    await fetch(`${first.url}/indexes`, {
      method: "POST",
      headers: { authorization, "content-type": "application/json" },
      body: '{"uid":"facts"}',
    });
    await expect.poll(() => indexes(first)).toBe(1);
    await first.stop();
    const again = await startMeilisearch(given);
    expect(await indexes(again)).toBe(1);
    await again.stop();
    writeFileSync(join(given.directory, "data", "VERSION"), version);
    const anew = await startMeilisearch(given);
    expect(await indexes(anew)).toBe(0);
    await anew.stop();
  });

  it("names the log file when the server ends while starting", async () => {
    await expect(startMeilisearch({ ...options, masterKey: "short" })).rejects.toMatchObject({
      reason: "meilisearch_failed",
      advice: expect.stringContaining(options.logFile),
    });
  });
});

/** Whether a process was started with this in its arguments; pgrep is not on every machine. */
function isNamedByAProcess(text: string): boolean {
  return readdirSync("/proc").some((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return readFileSync(`/proc/${name}/cmdline`, "utf8").includes(text);
    } catch {
      return false;
    }
  });
}
