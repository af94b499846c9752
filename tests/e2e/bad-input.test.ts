import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runProgram, type Ended } from "./run-program.ts";
import { cleanEnvironment, createWorkspace, eventsOf, linesOf, repositoryRoot, startTestMesh, type TestMesh } from "./test-mesh.ts";

const HLVM = join(repositoryRoot, "services", "cli", "bin", "hlvm");

const read = (path: string) => ({ toolCalls: [{ tool: "read_file", arguments: { path } }] });
const answer = { text: "I told you what happened." };
const script = {
  conversations: [
    { match: "large file", turns: [read("large.txt"), answer] },
    { match: "binary file", turns: [read("binary.bin"), answer] },
    { match: "latin file", turns: [read("latin.txt"), answer] },
    { match: "missing file", turns: [read("nowhere.txt"), answer] },
    { match: "dotted path", turns: [read("../../etc/passwd"), answer] },
    { match: "linked path", turns: [read("link/passwd"), answer] },
    { match: "wrong arguments", turns: [{ toolCalls: [{ tool: "read_file", arguments: { file: "a.txt" } }] }, answer] },
    { match: "broken arguments", turns: [{ toolCalls: [{ tool: "read_file", arguments: '{"path": ' }] }, answer] },
    { match: "unknown tool", turns: [{ toolCalls: [{ tool: "launch_rocket", arguments: {} }] }, answer] },
    {
      match: "full disk",
      turns: [{ toolCalls: [{ tool: "write_file", arguments: { path: "big.txt", content: "x".repeat(1_500_000) } }] }, answer],
    },
    { match: "cut stream", turns: [{ text: "This sentence is not", cut: true }] },
  ],
};

let mesh: TestMesh;
let workspace: string;
let provider: Server;

beforeAll(async () => {
  workspace = await createWorkspace({
    "a.txt": "a\n",
    "large.txt": "x".repeat(2 * 1024 * 1024 + 1),
    "binary.bin": Uint8Array.from({ length: 2_000 }, (_, index) => index % 7),
    "latin.txt": Buffer.from("caf\xe9\n", "latin1"),
  });
  symlinkSync("/etc", join(workspace, "link"));
  writeFileSync(join(workspace, "script.json"), JSON.stringify(script));
  provider = createServer((_request, response) => {
    response.writeHead(401, { "content-type": "application/json" });
    response.end('{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}');
  }).listen(0, "127.0.0.1");
  await once(provider, "listening");
  mesh = await startTestMesh({
    HLVM_SCRIPT_FILE: join(workspace, "script.json"),
    HLVM_MODEL: "scripted/script",
    ANTHROPIC_API_KEY: "sk-ant-wrong-key",
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${(provider.address() as AddressInfo).port}`,
  });
});

afterAll(async () => {
  await mesh.stop();
  provider.close();
  rmSync(workspace, { recursive: true });
});

const ask = (question: string, ...flags: string[]): Promise<Ended> => mesh.hlvm(["ask", "--json", ...flags, question], { cwd: workspace });

function expectClear(ended: Ended, ...words: (string | RegExp)[]): void {
  expect(ended.code).not.toBe(0);
  for (const word of words) expect(ended.stderr + ended.stdout).toMatch(word);
  expect(ended.stderr).not.toMatch(/\n\s+at .*:\d+/);
}

describe("a command line that is wrong", () => {
  it("unknown flag: names it", async () => {
    const ended = await mesh.hlvm(["ask", "--colour", "x"]);
    expectClear(ended, "--colour", "--help");
    expect(ended.code).toBe(2);
  });

  it("unknown provider, unknown model: says which there are, and never takes another", async () => {
    expectClear(await ask("x", "--model", "acme/brain"), "acme", "hlvm model list");
    expectClear(await ask("x", "--model", "demo/brain"), "demo/brain", "demo/rules");
  });

  it("a provider without a key: names the variable", async () => {
    expectClear(await ask("x", "--model", "openai/gpt-5"), "OPENAI_API_KEY");
  });

  it("a key that the provider refuses: names the variable, and not the key", async () => {
    const ended = await ask("x", "--model", "anthropic/claude-sonnet-4-5");
    expectClear(ended, "ANTHROPIC_API_KEY");
    expect(ended.stdout + ended.stderr).not.toContain("sk-ant-wrong-key");
    expect(linesOf(ended).at(-1)).toMatchObject({ type: "final", stop_reason: "error" });
  });

  it("a workspace that does not exist, is a file, or is not readable: names it", async () => {
    expectClear(await ask("x", "--workspace", join(workspace, "nowhere")), "nowhere", /does not exist|no such/i);
    expectClear(await ask("x", "--workspace", join(workspace, "a.txt")), "a.txt", /folder/);
    const locked = join(workspace, "locked");
    mkdirSync(locked);
    chmodSync(locked, 0o000);
    // Root may open everything; without the two rights for that it is like anybody else.
    const asRoot = process.getuid?.() === 0 ? ["setpriv", "--bounding-set", "-dac_override,-dac_read_search", HLVM] : [HLVM];
    const [program, ...rest] = [...asRoot, "ask", "--json", "--workspace", locked, "x"];
    const refused = await runProgram(program, rest, { cwd: workspace, environment: mesh.environment });
    expectClear(refused, `The workspace ${locked} cannot be read: EACCES`);
    chmodSync(locked, 0o700);
  });

  it("an attachment that is missing, binary or too large: names it", async () => {
    expectClear(await ask("x", "--attach", join(workspace, "nowhere.txt")), "nowhere.txt");
    expectClear(await ask("x", "--attach", join(workspace, "binary.bin")), "binary.bin", /binary|text/);
    expectClear(await ask("x", "--attach", join(workspace, "large.txt")), "large.txt", "2 MB");
  });
});

describe("a bubblewrap that a person has chosen", () => {
  it("and that is not there: the sandbox names it, whatever else is installed", async () => {
    const directory = mkdtempSync(join(tmpdir(), "hlvm-bwrap-"));
    const environment = cleanEnvironment(directory, { HLVM_BWRAP: "/nowhere/bwrap" });
    const ended = await runProgram(HLVM, ["ask", "x"], { cwd: workspace, environment });
    expectClear(ended, "sandbox", "/nowhere/bwrap", "HLVM_BWRAP");
    rmSync(directory, { recursive: true });
  });
});

describe("a tool call that cannot be done is told to the model, and the run goes on", () => {
  it.each([
    ["large file", "too_large", /limit is 2097152[\s\S]*grep -n/],
    ["binary file", "binary_file", /binary/],
    ["latin file", "invalid_utf8", /UTF-8/],
    ["missing file", "not_found", /nowhere\.txt/],
    ["dotted path", "outside_workspace", /outside/],
    ["linked path", "outside_workspace", /outside/],
    ["wrong arguments", "invalid_arguments", /"path" is missing[\s\S]*no argument "file"/],
    ["broken arguments", "invalid_arguments", /JSON/],
    ["unknown tool", "not_found", /launch_rocket/],
  ])("%s", async (question, errorCode, content) => {
    const ended = await ask(question);
    expect(ended).toMatchObject({ code: 0 });
    expect(eventsOf(linesOf(ended), "tool_end")).toEqual([
      expect.objectContaining({ success: false, error_code: errorCode, content: expect.stringMatching(content) }),
    ]);
  });

  it("a full disk in the workspace", async (context) => {
    const disk = mkdtempSync(join(tmpdir(), "hlvm-disk-"));
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], { stdio: "ignore" });
    } catch {
      context.skip("a small disk can only be mounted by root");
    }
    try {
      const ended = await ask("full disk", "--permission-mode", "acceptEdits", "--workspace", disk);
      expect(eventsOf(linesOf(ended), "tool_end")).toEqual([
        expect.objectContaining({ success: false, error_code: "no_space", content: expect.stringMatching(/full/) }),
      ]);
    } finally {
      execFileSync("umount", ["-l", disk]);
      rmSync(disk, { recursive: true });
    }
  });
});

describe("a model that fails", () => {
  it("a stream that is cut: keeps what came, says so, and is no answer", async () => {
    const ended = await ask("cut stream");
    expectClear(ended, /cut|ended before/);
    const lines = linesOf(ended);
    expect(
      lines
        .filter(({ type }) => type === "token")
        .map(({ text }) => text)
        .join(""),
    ).toContain("This sentence is not");
    expect(lines.at(-1)).toMatchObject({ type: "final", stop_reason: "error", advice: expect.stringMatching(/again|resume/) });
  });
});
