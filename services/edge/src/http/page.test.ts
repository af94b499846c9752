import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { AUTHORIZATION, startTestMesh, type TestMesh } from "../testing/test-mesh.ts";
import { PageFiles } from "./page-files.ts";

const directory = mkdtempSync(join(tmpdir(), "hlvm-page-"));
const SESSION = "0b8f8f0e-7c49-4f0c-9d7f-0f8d2f0f3a10";
let mesh: TestMesh;

beforeAll(async () => {
  mkdirSync(join(directory, "assets"));
  writeFileSync(join(directory, "index.html"), "<!doctype html><title>HLVM</title>");
  writeFileSync(join(directory, "assets", "main-1.js"), "0;");
  writeFileSync(join(directory, "assets", "main-1.js.gz"), gzipSync("0;"));
  writeFileSync(join(directory, "assets", "main-1.js.map"), "{}");
  writeFileSync(join(directory, "secret"), "secret");
  mesh = await startTestMesh((router) => router.service(SessionService, { listSessions: () => ({}) }), directory);
});

afterAll(async () => {
  await mesh.close();
  rmSync(directory, { recursive: true });
});

const post = (path: string, headers: Record<string, string>, body?: string) => fetch(mesh.url + path, { method: "POST", headers, body });
const JSON_BODY = { "content-type": "application/json" };

async function newCode(): Promise<string> {
  const response = await post("/auth/code", AUTHORIZATION);
  return ((await response.json()) as { code: string }).code;
}

const listWith = (token: string) =>
  post(`/${SessionService.typeName}/ListSessions`, { ...JSON_BODY, authorization: `Bearer ${token}` }, "{}");

describe("the page's files", () => {
  it.each(["/", `/s/${SESSION}`, `/s/${SESSION}?at=812`, "/approvals", "/models", "/settings", "/memory/search"])(
    "give the page at %s to anybody, and keep it nowhere",
    async (path) => {
      const response = await fetch(mesh.url + path);
      expect([response.status, await response.text()]).toEqual([200, "<!doctype html><title>HLVM</title>"]);
      expect(response.headers.get("cache-control")).toBe("no-store");
    },
  );

  it("give files with a hash in their names for good, and smaller where the browser can read that", async () => {
    const response = await fetch(`${mesh.url}/assets/main-1.js`);
    expect(await response.text()).toBe("0;");
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "text/javascript; charset=utf-8",
      "content-encoding": "gzip",
      "cache-control": "public, max-age=31536000, immutable",
    });
  });

  it.each([
    "/assets/main-1.js.map",
    "/assets/../secret",
    "/assets/%2e%2e/secret",
    "/secret",
    "/index.html",
    "/s",
    "/etc/passwd",
    "/auth/code",
  ])("leave %s closed", async (path) => {
    expect((await fetch(mesh.url + path)).status).toBe(path === "/s" ? 200 : 401);
  });

  it.each(["/", "/assets/main-1.js", "/healthz", "/no/such/path"])(
    "carry the content policy at %s, and nothing lets others in",
    async (path) => {
      const { headers } = await fetch(mesh.url + path);
      expect(headers.get("content-security-policy")).toMatch(
        /^default-src 'none'; .*frame-ancestors 'none'; require-trusted-types-for 'script'$/,
      );
      expect(Object.fromEntries(headers)).toMatchObject({
        "x-content-type-options": "nosniff",
        "cross-origin-opener-policy": "same-origin",
      });
      expect(headers.get("access-control-allow-origin")).toBeNull();
    },
  );

  it("are named where the folder is not what it should be", () => {
    expect(() => new PageFiles(join(directory, "none"))).toThrow(expect.objectContaining({ reason: "page_not_readable" }));
  });
});

describe("the link to the page", () => {
  it("is swapped once for a token that lets its person in", async () => {
    const body = JSON.stringify({ code: await newCode() });
    const first = await post("/auth/token", JSON_BODY, body);
    expect([first.status, first.headers.get("cache-control"), first.headers.get("set-cookie")]).toEqual([200, "no-store", null]);
    const { token } = (await first.json()) as { token: string };
    expect((await listWith(token)).status).toBe(200);
    const second = await post("/auth/token", JSON_BODY, body);
    expect([second.status, await second.json()]).toMatchObject([401, { error: { reason: "code_refused" } }]);
    expect((await listWith(`${token}x`)).status).toBe(401);
  });

  it("is good for a minute", async () => {
    const code = await newCode();
    const now = performance.now();
    const clock = vi.spyOn(performance, "now").mockReturnValue(now + 61_000);
    const response = await post("/auth/token", JSON_BODY, JSON.stringify({ code }));
    clock.mockRestore();
    expect(response.status).toBe(401);
  });

  it.each([
    ["from another site", { ...JSON_BODY, "sec-fetch-site": "cross-site" }],
    ["from another port", { ...JSON_BODY, "sec-fetch-site": "same-site" }],
    ["from a form", { "content-type": "text/plain" }],
  ])("is not swapped %s, and stays good", async (_, headers) => {
    const body = JSON.stringify({ code: await newCode() });
    expect((await post("/auth/token", headers, body)).status).toBe(403);
    expect((await post("/auth/token", JSON_BODY, body)).status).toBe(200);
  });

  it.each(["", "{", "[]", '{"code":1}', '{"code":""}', `{"code":"${"x".repeat(10_000)}"}`])("is not guessed with %.20s", async (body) => {
    expect((await post("/auth/token", JSON_BODY, body)).status).toBeGreaterThanOrEqual(400);
  });

  it("is given to nobody without the token of this machine's user", async () => {
    expect((await post("/auth/code", {})).status).toBe(401);
  });
});
