import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createWorkspace, eventsOf, linesOf, repositoryRoot, startTestMesh, type TestMesh } from "./test-mesh.ts";

let mesh: TestMesh;
let workspace: string;

beforeAll(async () => {
  mesh = await startTestMesh({ HLVM_SECRET_OF_MINE: "swordfish", HLVM_SETTING_OF_MINE: "trident", SECRET_OF_MINE: "harpoon" });
  workspace = await createWorkspace(
    { "README.md": "# Teapot\n\nTeapot brews tea over HTTP.\n", "teapot.js": "export const brew = () => 418;\n" },
    true,
  );
});

afterAll(async () => {
  await mesh.stop();
  rmSync(workspace, { recursive: true });
});

describe("hlvm ask", () => {
  it("answers about this repository with at least three different tools, in NDJSON that ends with a final", async () => {
    const ended = await mesh.hlvm(["ask", "--json", "What does this repository do?"], { cwd: repositoryRoot });
    const lines = linesOf(ended);
    expect(ended).toMatchObject({ code: 0 });
    expect(lines.at(-1)).toMatchObject({ type: "final", stop_reason: "completed" });
    const succeeded = eventsOf(lines, "tool_end").filter(({ success }) => success === true);
    expect(new Set(succeeded.map(({ name }) => name)).size).toBeGreaterThanOrEqual(3);
    expect(
      lines
        .filter(({ type }) => type === "token")
        .map(({ text }) => text)
        .join(""),
    ).toContain(String(lines.at(-1)!.text).slice(0, 40));
  });

  it("quotes the workspace it was called from, by file and line, and says that it is a demo", async () => {
    const ended = await mesh.hlvm(["ask", "What does this repository do?"], { cwd: workspace });
    expect(ended).toMatchObject({ code: 0 });
    expect(ended.stdout).toMatch(/README\.md:\d+/);
    expect(ended.stdout).toContain("brews tea over HTTP");
    expect(ended.stdout).toMatch(/demo/i);
    expect(ended.stdout).toContain("ANTHROPIC_API_KEY");
  });

  it("shows each tool with its name, arguments, time and result size", async () => {
    const ended = await mesh.hlvm(["ask", "What does this repository do?"], { cwd: workspace });
    expect(ended.stderr).toMatch(/read_file.*README\.md.*\d+ ms/);
  });

  it("denies with -p what would have to be asked, and creates nothing", async () => {
    const ended = await mesh.hlvm(["ask", "--json", "-p", "create hello.txt with hi"], { cwd: workspace });
    expect(eventsOf(linesOf(ended), "permission_check")).toContainEqual(expect.objectContaining({ name: "write_file", decision: "deny" }));
    expect(existsSync(join(workspace, "hello.txt"))).toBe(false);
  });

  it("creates it with acceptEdits", async () => {
    const ended = await mesh.hlvm(["ask", "-p", "--permission-mode", "acceptEdits", "create hello.txt with hi"], { cwd: workspace });
    expect(ended).toMatchObject({ code: 0 });
    expect(readFileSync(join(workspace, "hello.txt"), "utf8").trim()).toBe("hi");
  });

  it("keeps both in the audit log, with the step that decided and the outcome", async () => {
    const [created, denied] = linesOf(await mesh.hlvm(["audit", "query", "--json", "--tool", "write_file", "--since", "1h"]));
    expect(created).toMatchObject({ decision: "allow", step: "mode", outcome: "succeeded", principal: expect.stringMatching(/^user:/) });
    expect(denied).toMatchObject({ decision: "deny", step: "mode", rule: expect.stringContaining("dontAsk") });
  });

  it("obeys --disallowedTools over --allowedTools", async () => {
    const denied = await mesh.hlvm(
      [
        "ask",
        "--json",
        "--permission-mode",
        "bypassPermissions",
        "--allowedTools",
        "shell_exec",
        "--disallowedTools",
        "shell_exec",
        "run echo hi",
      ],
      { cwd: workspace },
    );
    expect(eventsOf(linesOf(denied), "permission_check")).toContainEqual(expect.objectContaining({ decision: "deny", step: "deny_list" }));
    const allowed = await mesh.hlvm(["ask", "--json", "-p", "--allowedTools", "shell_exec", "run echo $((40+2))"], { cwd: workspace });
    expect(eventsOf(linesOf(allowed), "permission_check")).toContainEqual(
      expect.objectContaining({ decision: "allow", step: "explicit_allow" }),
    );
    expect(linesOf(allowed).at(-1)!.text).toContain("42");
  });

  it("gives the model gateway, and no other service, its settings of the allocator", () => {
    const given = mesh.state.services.filter(({ pid }) => readFileSync(`/proc/${pid}/environ`, "utf8").includes("\0GLIBC_TUNABLES="));
    expect(given.map(({ name }) => name)).toEqual(["model-gateway"]);
  });

  it("runs commands isolated: no network, none of the mesh's environment, not outside the workspace", async () => {
    const run = async (command: string): Promise<string> => {
      const ended = await mesh.hlvm(["ask", "--json", "--permission-mode", "bypassPermissions", `run ${command}`], { cwd: workspace });
      const [end] = eventsOf(linesOf(ended), "tool_end");
      return String(end!.content);
    };
    const sandbox = mesh.state.services.find(({ name }) => name === "sandbox")!;
    expect(readFileSync(`/proc/${sandbox.pid}/environ`, "utf8")).toContain("HLVM_SETTING_OF_MINE=trident");
    const environment = await run("env; cat /proc/*/environ");
    expect(environment).toContain("PATH=");
    expect(environment).not.toMatch(/swordfish|trident|harpoon/);

    const interfaces = (await run("cat /proc/net/dev")).matchAll(/^\s*(\S+):\s+\d/gm);
    expect(Array.from(interfaces, ([, name]) => name)).toEqual(["lo"]);

    const outside = await run("cat /etc/shadow; touch /usr/x");
    expect(outside).not.toMatch(/root:[*!$x]/);
    expect(outside).toMatch(/Read-only file system|Permission denied/);
  });

  it("remembers a fact in one session and is reminded of it in another", async () => {
    await mesh.hlvm(["memory", "write", "The teapot service is deployed on Thursdays"], { cwd: workspace });
    const ended = await mesh.hlvm(["ask", "--json", "When is the teapot service deployed?"], { cwd: workspace });
    expect(eventsOf(linesOf(ended), "memory_activity")).toContainEqual(
      expect.objectContaining({ recalled: [expect.stringContaining("Thursdays")] }),
    );
    const found = await mesh.hlvm(["memory", "search", "--json", "teapot deployed"], { cwd: workspace });
    expect(found.stdout).toContain("Thursdays");
  });

  it("keeps nothing of a stateless session in the list", async () => {
    const ended = await mesh.hlvm(["ask", "--json", "--stateless", "What is in here?"], { cwd: workspace });
    const { session_id } = linesOf(ended).at(-1)!;
    const listed = await mesh.hlvm(["session", "list", "--json"]);
    expect(listed.stdout).not.toContain(String(session_id));
  });

  it("takes an attached file into the question", async () => {
    const ended = await mesh.hlvm(["ask", "--json", "--attach", join(workspace, "teapot.js"), "What is attached?"], { cwd: workspace });
    expect(ended).toMatchObject({ code: 0 });
    expect(eventsOf(linesOf(ended), "user_message")).toEqual([
      expect.objectContaining({ attachments: [{ path: join(workspace, "teapot.js"), characters: 31 }] }),
    ]);
  });
});
