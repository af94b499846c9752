import { readFileSync, rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createWorkspace, startTestMesh, type Line, type TestMesh } from "./test-mesh.ts";

let mesh: TestMesh;
let workspace: string;
let token: string;

beforeAll(async () => {
  mesh = await startTestMesh();
  workspace = await createWorkspace({ "README.md": "# Kettle\n\nKettle boils water.\n" });
  token = readFileSync(mesh.state.tokenFile, "utf8").trim();
});

afterAll(async () => {
  await mesh.stop();
  rmSync(workspace, { recursive: true });
});

const post = (body: unknown, headers: Record<string, string> = { authorization: `Bearer ${token}` }): Promise<Response> =>
  fetch(`${mesh.state.edgeUrl}/api/chat`, { method: "POST", headers, body: typeof body === "string" ? body : JSON.stringify(body) });

describe("POST /api/chat", () => {
  it("streams a run as NDJSON that ends with a final", async () => {
    const response = await post({ messages: [{ role: "user", content: "What does this repository do?" }], workspace });
    expect(response.headers.get("content-type")).toContain("application/x-ndjson");
    const lines = (await response.text())
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Line);
    expect(lines.at(-1)).toMatchObject({ type: "final", stop_reason: "completed", text: expect.stringContaining("boils water") });
  });

  it("refuses whoever has no token, on every path", async () => {
    for (const headers of [{}, { authorization: "Bearer guess" }] as Record<string, string>[]) {
      expect((await post({ messages: [] }, headers)).status).toBe(401);
      expect((await fetch(`${mesh.state.edgeUrl}/nowhere`, { headers })).status).toBe(401);
      expect(
        (
          await fetch(`${mesh.state.edgeUrl}/hlvm.session.v1.SessionService/ListSessions`, {
            method: "POST",
            headers: { ...headers, "content-type": "application/json" },
            body: "{}",
          })
        ).status,
      ).toBe(401);
    }
  });

  it("answers Connect over HTTP/1.1, as a browser speaks it, and keeps private methods closed", async () => {
    const call = (path: string): Promise<Response> =>
      fetch(`${mesh.state.edgeUrl}/${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: "{}",
      });
    expect((await call("hlvm.session.v1.SessionService/ListSessions")).status).toBe(200);
    for (const method of [
      "hlvm.policy.v1.PolicyService/Decide",
      "hlvm.audit.v1.AuditService/RecordOutcome",
      "hlvm.sandbox.v1.SandboxService/Execute",
      "hlvm.model.v1.ModelService/Generate",
    ])
      expect((await call(method)).status).toBeGreaterThanOrEqual(400);
  });

  it.each([
    ["no JSON", "{"],
    ["no messages", {}],
    ["no question", { messages: [{ role: "assistant", content: "hi" }] }],
    ["an unknown mode", { messages: [{ role: "user", content: "x" }], permission_mode: "yolo" }],
  ])("answers %s with 400 and what to do", async (_name, body) => {
    const response = await post(body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { message: expect.any(String), advice: expect.stringMatching(/./) } });
  });
});
