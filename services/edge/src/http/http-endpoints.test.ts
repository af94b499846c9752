import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { LocalAuthenticator } from "../adapters/local-authenticator.ts";
import { AUTHORIZATION, startTestMesh, TOKEN, type TestMesh } from "../testing/test-mesh.ts";

let mesh: TestMesh;
let reached = 0;

beforeAll(async () => {
  mesh = await startTestMesh((router) =>
    router.service(SessionService, { listSessions: () => (reached++, {}), startRun: () => (reached++, {}) }),
  );
});

afterAll(() => mesh.close());

/** Speaks HTTP by hand, since `fetch` sets the Host header itself. @returns the status line and the rest */
async function raw(lines: readonly string[]): Promise<string> {
  const socket = connect(mesh.port, "127.0.0.1");
  let answer = "";
  socket.on("data", (bytes) => (answer += bytes.toString()));
  socket.write(`${lines.join("\r\n")}\r\nConnection: close\r\n\r\n`);
  await once(socket, "close");
  return answer;
}

describe("the endpoints of the edge", () => {
  it.each([
    ["GET", "/"],
    ["GET", "/healthz"],
    ["GET", "/no/such/path"],
    ["POST", "/api/chat"],
    ["POST", `/${SessionService.typeName}/ListSessions`],
    ["DELETE", `/${SessionService.typeName}/ListSessions`],
  ])("refuses %s %s without a token, whatever is behind it", async (method, path) => {
    const response = await fetch(`${mesh.url}${path}`, { method });
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toBe("Bearer");
    expect(await response.json()).toMatchObject({
      code: "unauthenticated",
      error: {
        reason: "token_missing",
        message: "The request carries no token.",
        advice: expect.stringContaining("Authorization: Bearer"),
      },
    });
    expect(reached).toBe(0);
  });

  it.each([
    ["a wrong one", "Bearer wrong"],
    ["one that is longer", `Bearer ${TOKEN}0`],
    ["none", "Bearer "],
    ["another scheme", `Basic ${TOKEN}`],
  ])("refuses %s", async (_, authorization) => {
    const response = await fetch(`${mesh.url}/healthz`, { headers: { authorization } });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ error: { reason: "token_refused" } });
  });

  it("answers with the token", async () => {
    const response = await fetch(`${mesh.url}/healthz`, { headers: AUTHORIZATION });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ status: "serving" });
  });

  it.each(["/healthz", `/${SessionService.typeName}/ListSessions`])("authenticates a request to %s once", async (path) => {
    const authenticate = vi.spyOn(LocalAuthenticator.prototype, "authenticate");
    const method = path === "/healthz" ? "GET" : "POST";
    const headers = { ...AUTHORIZATION, "content-type": "application/json" };
    const response = await fetch(`${mesh.url}${path}`, { method, headers, body: method === "GET" ? undefined : "{}" });
    expect(response.status).toBe(200);
    expect(authenticate).toHaveBeenCalledTimes(1);
    authenticate.mockRestore();
  });

  it("knows no other paths", async () => {
    expect((await fetch(`${mesh.url}/no/such/path`, { headers: AUTHORIZATION })).status).toBe(404);
    expect((await fetch(`${mesh.url}/api/chat`, { headers: AUTHORIZATION })).status).toBe(404);
  });

  it.each([
    "evil.example",
    "evil.example:11435",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "127.0.0.1@evil.example",
    "0.0.0.0",
    "",
  ])("refuses a request that is addressed to %j, with the token too", async (host) => {
    const answer = await raw(["GET /healthz HTTP/1.1", `Host: ${host}`, `Authorization: Bearer ${TOKEN}`]);
    expect(answer).toMatch(/^HTTP\/1\.1 403 /);
    expect(answer).toContain("host_refused");
  });

  it.each(["localhost", "LOCALHOST:1", "127.0.0.1:80", "127.9.9.9", "[::1]:11435"])(
    "serves a request that is addressed to %s",
    async (host) => {
      expect(await raw(["GET /healthz HTTP/1.1", `Host: ${host}`, `Authorization: Bearer ${TOKEN}`])).toMatch(/^HTTP\/1\.1 200 /);
    },
  );
});
