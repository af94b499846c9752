import { spawn, type ChildProcess } from "node:child_process";
import { once, EventEmitter } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readMeshState } from "@hlvm/mesh/mesh-state";
import { runProgram } from "./run-program.ts";
import { cleanEnvironment, createWorkspace, linesOf, repositoryRoot } from "./test-mesh.ts";

const HLVM = join(repositoryRoot, "services", "cli", "bin", "hlvm");

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "hlvm-start-"));
});

afterEach(async () => {
  // What was killed takes the kernel a moment to end.
  await expect.poll(() => processesOf(directory), { timeout: 10_000 }).toEqual([]);
  rmSync(directory, { recursive: true, force: true });
});

/** The command lines of processes that know this folder, from their command line or their environment. */
function processesOf(folder: string): string[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => (of(pid, "cmdline") + of(pid, "environ")).includes(folder)).map((pid) => `${pid} ${of(pid, "cmdline")}`);
}

/** Empty for a process that has ended meanwhile. */
function of(pid: string, file: "cmdline" | "environ"): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8").replaceAll("\0", " ");
  } catch {
    return "";
  }
}

/** Resolves when this text has been written to standard output. */
function shows({ stdout }: ChildProcess, text: string): Promise<string> {
  let said = "";
  return new Promise((resolve) =>
    stdout!.setEncoding("utf8").on("data", (chunk: string) => {
      said += chunk;
      if (said.includes(text)) resolve(said);
    }),
  );
}

function npmStart(programArguments: readonly string[], cwd: string, environment = cleanEnvironment(directory)) {
  return runProgram("npm", ["start", "--silent", "--prefix", repositoryRoot, "--", ...programArguments], { cwd, environment });
}

describe("npm start", () => {
  it("-- ask --json brings the mesh up, writes nothing but NDJSON, and leaves nothing running", async () => {
    const ended = await npmStart(["ask", "--json", "What does this repository do?"], repositoryRoot);
    expect(ended).toMatchObject({ code: 0 });
    expect(linesOf(ended).at(-1)).toMatchObject({ type: "final" });
    expect(readMeshState(directory)).toBeUndefined();
  });

  it("-- ask answers about the folder it was called from", async () => {
    const workspace = await createWorkspace({ "README.md": "# Lighthouse\n\nLighthouse keeps ships off rocks.\n" });
    const ended = await npmStart(["ask", "What does this repository do?"], workspace);
    expect(ended.stdout).toContain("ships off rocks");
    rmSync(workspace, { recursive: true });
  });

  it("alone keeps the mesh up, prints its URL, a link to the page and three things to try, and ends everything on Ctrl-C", async () => {
    const up = spawn("npm", ["start", "--silent", "--prefix", repositoryRoot], {
      cwd: repositoryRoot,
      env: cleanEnvironment(directory),
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    const said = await shows(up, "Ctrl-C");
    const [edge, link, ...others] = said.match(/https?:\/\/\S+/g)!;
    expect(link).toMatch(new RegExp(`^${edge}/#code=[\\w-]{43}$`));
    expect(others).toEqual([]);
    expect(said.match(/^\s+hlvm .+|^\s+npm start .+/gm)!.length).toBeGreaterThanOrEqual(3);
    expect(statSync(join(directory, "token")).mode & 0o777).toBe(0o600);
    const asked = await npmStart(["ask", "--json", "What is in here?"], repositoryRoot);
    expect(asked).toMatchObject({ code: 0 });
    expect(readMeshState(directory)).toBeDefined();

    process.kill(-up.pid!, "SIGINT");
    await once(up, "close");
  });

  it("names the service, the port and the log file when the port is taken", async () => {
    const squatter = createServer();
    squatter.listen(0, "127.0.0.1");
    await once(squatter, "listening");
    const port = String((squatter.address() as AddressInfo).port);
    const ended = await npmStart([], repositoryRoot, cleanEnvironment(directory, { HLVM_PORT: port }));
    squatter.close();
    expect(ended.code).not.toBe(0);
    expect(ended.stderr).toContain("edge");
    expect(ended.stderr).toContain(port);
    expect(ended.stderr).toContain(join(directory, "logs", "edge.log"));
    expect(ended.stderr).not.toMatch(/\n\s+at /);
  });

  it("two questions at once share one mesh", async () => {
    const both = await Promise.all([1, 2].map(() => npmStart(["ask", "--json", "What is in here?"], repositoryRoot)));
    for (const ended of both) expect(linesOf(ended).at(-1)).toMatchObject({ type: "final", stop_reason: "completed" });
  });

  it("alone keeps a mesh up that a question has started, when that question is answered", async () => {
    const workspace = await createWorkspace({});
    const waits = { toolCalls: [{ tool: "shell_exec", arguments: { command: "until [ -e go ]; do sleep 0.05; done" } }] };
    writeFileSync(
      join(workspace, "script.json"),
      JSON.stringify({ conversations: [{ match: "", turns: [waits, { text: "Answered." }] }] }),
    );
    const scripted = { HLVM_SCRIPT_FILE: join(workspace, "script.json"), HLVM_MODEL: "scripted/script" };
    const began = new EventEmitter();
    const asking = runProgram(HLVM, ["ask", "--json", "--permission-mode", "bypassPermissions", "wait"], {
      cwd: workspace,
      environment: cleanEnvironment(directory, scripted),
      onLine: (line) => line.includes('"tool_start"') && began.emit("tool"),
    });
    await once(began, "tool");
    const up = spawn(HLVM, ["up"], { env: cleanEnvironment(directory), stdio: ["ignore", "pipe", "pipe"] });
    await shows(up, "Ctrl-C");
    writeFileSync(join(workspace, "go"), "");
    expect(await asking).toMatchObject({ code: 0 });

    const next = await runProgram(HLVM, ["session", "list", "--json"], { cwd: workspace, environment: cleanEnvironment(directory) });
    expect(linesOf(next)).toHaveLength(1);
    expect(readMeshState(directory)).toMatchObject({ lifetime: "while-referenced" });
    up.kill("SIGINT");
    expect(await once(up, "close")).toEqual([0, null]);
    expect(readMeshState(directory)).toBeUndefined();
    rmSync(workspace, { recursive: true });
  });

  it.each([["up"], ["ask", "What is in here?"], ["session", "watch", "00000000-0000-4000-8000-000000000000"]])(
    "is given up with Ctrl-C while the mesh starts, and leaves nothing: hlvm %s",
    async (...words) => {
      const hlvm = spawn(HLVM, words, { cwd: directory, env: cleanEnvironment(directory), stdio: ["ignore", "pipe", "pipe"] });
      const ended = once(hlvm, "close");
      await expect.poll(() => existsSync(join(directory, "logs", "postgres.log")), { timeout: 10_000 }).toBe(true);
      hlvm.kill("SIGINT");
      expect(await ended).toEqual([130, null]);
      expect(processesOf(directory)).toEqual([]);
      expect(readMeshState(directory)).toBeUndefined();
    },
  );

  it("leaves nothing behind when the supervisor is killed", async () => {
    const up = spawn("npm", ["start", "--silent", "--prefix", repositoryRoot], {
      cwd: repositoryRoot,
      env: cleanEnvironment(directory),
      stdio: ["ignore", "pipe", "ignore"],
      detached: true,
    });
    await shows(up, "Ctrl-C");
    process.kill(readMeshState(directory)!.supervisorPid, "SIGKILL");
    await once(up, "close");
    await expect.poll(() => processesOf(directory), { timeout: 10_000 }).toEqual([]);
  });
});
