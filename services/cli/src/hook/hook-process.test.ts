import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TOKEN } from "../testing/scripted-edge.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { hookCommand, HLVM_PROGRAM } from "./hook-call.ts";
import { readHookLog } from "./hook-log.ts";
import { HOOK_TOOLS, type HookTool } from "./hook-tool.ts";

const FACT = { factId: "0b1b2c3d-0000-4000-8000-000000000001", text: "The staging cluster runs in Falkenstein" };
const bodies: Readonly<Record<string, string>> = {
  good: JSON.stringify({ facts: [{ fact: FACT, score: 3, parts: { coverage: 0.9, gate: 0.3 } }] }),
  rubbish: "<html>",
};
const LATE = new Set(["late", "no-answer"]);
/** Where a login of a profile is made anew. */
const renewals: string[] = [];
const server = createServer((request, response) => {
  if (request.url === "/auth/cli/refresh") {
    renewals.push(request.url);
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    return void response.end(JSON.stringify({ access_token: TOKEN, refresh_token: "next", expires_at: expiresAt, principal: "user:ada" }));
  }
  // With any other token there is no answer.
  const body = request.headers.authorization === `Bearer ${TOKEN}` ? bodies.good : bodies[request.headers.authorization?.slice(7) ?? ""];
  if (body !== undefined) response.end(body);
});
let url: string;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

interface Options {
  readonly home: string;
  readonly input?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly program?: string;
  readonly during?: (child: ChildProcessWithoutNullStreams) => void;
}

/** As a tool does it: the command of its settings in a shell. */
async function fire(tool: HookTool, { home, input = eventOf(tool), environment = {}, program, during }: Options): Promise<string> {
  const command = hookCommand({ tool, isLive: true, home }, program);
  const child = spawn("/bin/sh", ["-c", command], { cwd: "/", env: { PATH: "/usr/bin:/bin", HOME: home, ...environment } });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
  child.stdin.on("error", () => undefined);
  if (during === undefined) child.stdin.end(input);
  else during(child);
  const [code] = await once(child, "close");
  expect(code).toBe(0);
  return said;
}

/** Fires it until it is in time: on a busy machine its second may be over, and it says nothing then. */
async function fireInTime(tool: HookTool, options: Options): Promise<string> {
  for (;;) {
    const said = await fire(tool, options);
    const decision = readHookLog(options.home).at(-1)?.decision ?? "";
    if (!LATE.has(decision)) return said;
  }
}

function eventOf(tool: HookTool): string {
  const event = { session_id: "s", conversation_id: "c", cwd: "/tmp", workspace_roots: ["/tmp"], prompt: "where is staging?" };
  return JSON.stringify({ ...event, hook_event_name: tool === "cursor" ? "sessionStart" : "UserPromptSubmit" });
}

const nothingOf = (tool: HookTool): RegExp => (tool === "cursor" ? /^\{\}\n?$/ : /^$/);
const edge = (token: string): Record<string, string> => ({ HLVM_EDGE_URL: url, HLVM_TOKEN: token });

describe.each(HOOK_TOOLS)("the process that %s starts", (tool) => {
  it.each<[string, () => Omit<Options, "home">]>([
    ["no mesh is up", () => ({})],
    ["the edge answers rubbish", () => ({ environment: edge("rubbish") })],
    ["the edge never answers", () => ({ environment: edge("silent") })],
    ["the edge is away", () => ({ environment: { HLVM_EDGE_URL: "http://127.0.0.1:1", HLVM_TOKEN: TOKEN } })],
    ["its settings make no sense", () => ({ environment: { ...edge(TOKEN), HLVM_RECONNECT_SECONDS: "soon" } })],
    ["its input is cut", () => ({ environment: edge(TOKEN), input: eventOf(tool).slice(0, -9) })],
    ["its input is empty", () => ({ environment: edge(TOKEN), input: "" })],
    ["its input is too large", () => ({ environment: edge(TOKEN), input: eventOf(tool) + " ".repeat(1_100_000) })],
    ["its input never ends", () => ({ environment: edge(TOKEN), during: (child) => void child.stdin.write("{") })],
    [
      "nobody reads",
      () => ({ environment: edge(TOKEN), during: (child) => void (child.stdout.destroy(), child.stdin.end(eventOf(tool))) }),
    ],
  ])("ends with 0 and says nothing where %s", async (name, options) => {
    const home = temporaryFolder();
    expect(await fire(tool, { home, ...options() })).toMatch(name === "nobody reads" ? /^$/ : nothingOf(tool));
    // Nothing of a mesh was begun.
    expect(readdirSync(home).filter((one) => !one.startsWith("hooks"))).toEqual([]);
  });

  it("does so where Node is missing or is killed", async () => {
    const root = temporaryFolder();
    const program = join(root, "it's", "services", "cli", "bin", "hlvm");
    cpSync(HLVM_PROGRAM, program);
    expect(await fire(tool, { home: root, program })).toMatch(nothingOf(tool));
    mkdirSync(join(root, "it's", "node_modules", ".bin"), { recursive: true });
    const node = join(root, "it's", "node_modules", ".bin", "node");
    writeFileSync(node, "#!/bin/sh\nkill -9 $$\n", { mode: 0o755 });
    expect(await fire(tool, { home: root, program })).toMatch(nothingOf(tool));
    // Through a link, as npm makes one.
    symlinkSync(program, join(root, "hlvm"));
    expect(await fire(tool, { home: root, program: join(root, "hlvm") })).toMatch(nothingOf(tool));
  });
});

describe("the process that a tool starts", () => {
  it("says where something is remembered", async () => {
    const said = await fireInTime("claude-code", { home: temporaryFolder(), environment: edge(TOKEN) });
    expect(JSON.parse(said)).toMatchObject({ hookSpecificOutput: { additionalContext: expect.stringContaining(FACT.factId) as string } });
  });

  it("has a login that is over made anew, without waiting for it", async () => {
    const home = temporaryFolder();
    const over = { url, principal: "user:ada", accessToken: "over", refreshToken: "r", expiresAt: "2026-01-01T00:00:00Z" };
    writeFileSync(join(home, "profiles.json"), JSON.stringify({ current: "work", profiles: { work: over } }));
    expect(await fireInTime("codex", { home })).toBe("");
    expect(readFileSync(join(home, "hooks.jsonl"), "utf8")).toContain('"login-expired"');
    await expect.poll(() => readFileSync(join(home, "profiles.json"), "utf8")).toContain(TOKEN);
    expect(renewals).toHaveLength(1);
    await expect.poll(() => existsSync(join(home, "profiles.json.lock"))).toBe(false);
    expect(await fireInTime("codex", { home })).toContain(FACT.factId);
  });
});
