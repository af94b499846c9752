import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readMeshState } from "@hlvm/mesh/mesh-state";
import { runProgram } from "./run-program.ts";
import { cleanEnvironment, createWorkspace, linesOf, repositoryRoot } from "./test-mesh.ts";

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "hlvm-start-"));
});

afterEach(() => {
  expect(processesOf(directory)).toEqual([]);
  rmSync(directory, { recursive: true, force: true });
});

/** Command lines and environments of processes that know this folder. */
function processesOf(folder: string): string[] {
  const listed = execFileSync("ps", ["axeww", "-o", "pid=,command="], { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
  return listed.split("\n").filter((line) => line.includes(folder) && !line.includes("ps axeww"));
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

  it("alone keeps the mesh up, prints one URL and three things to try, and ends everything on Ctrl-C", async () => {
    const up = spawn("npm", ["start", "--silent", "--prefix", repositoryRoot], {
      cwd: repositoryRoot,
      env: cleanEnvironment(directory),
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    let said = "";
    const ready = new Promise<void>((resolve) => {
      up.stdout.setEncoding("utf8").on("data", (chunk: string) => {
        said += chunk;
        if (said.includes("Ctrl-C")) resolve();
      });
    });
    await ready;
    expect(said.match(/https?:\/\/\S+/g)).toHaveLength(1);
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

  it("leaves nothing behind when the supervisor is killed", async () => {
    const up = spawn("npm", ["start", "--silent", "--prefix", repositoryRoot], {
      cwd: repositoryRoot,
      env: cleanEnvironment(directory),
      stdio: ["ignore", "pipe", "ignore"],
      detached: true,
    });
    await new Promise<void>((resolve) =>
      up.stdout.setEncoding("utf8").on("data", (chunk: string) => chunk.includes("Ctrl-C") && resolve()),
    );
    process.kill(readMeshState(directory)!.supervisorPid, "SIGKILL");
    await once(up, "close");
    await expect.poll(() => processesOf(directory), { timeout: 10_000 }).toEqual([]);
  });
});
