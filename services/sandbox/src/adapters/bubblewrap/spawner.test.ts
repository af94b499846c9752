import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { descriptors } from "./bubblewrap-arguments.ts";

const SPAWNER = new URL("spawner.ts", import.meta.url).href;

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hlvm-spawner-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A program in bwrap's place that writes its id and its parent's, and lives as long as its parent does. */
function writeProgram(): string {
  const program = join(folder, "program");
  writeFileSync(program, `#!/bin/sh\necho $$ $PPID > ${folder}/started\nexec cat <&${descriptors.block}\n`, { mode: 0o755 });
  return program;
}

/** A service that starts a runner, and stops before it has acknowledged the runner's descriptor. */
function serviceThatStops(): string {
  const layout = { workspace: folder, etc: folder, ripgrep: "/usr/bin/rg", temporaryMebibytes: 1, fileMebibytes: 1 };
  const occupant = { kind: "runner", program: join(folder, "runner.cjs") };
  const options = { bubblewrap: writeProgram(), seccomp: "/dev/null", layout: { ...layout, occupant } };
  return `
    import { Spawner } from ${JSON.stringify(SPAWNER)};
    new Spawner().start(${JSON.stringify(options)}, undefined);
    process.kill(process.pid, "SIGSTOP");`;
}

it("leaves nothing behind where the service is killed while a runner's descriptor is under way", { timeout: 30_000 }, async () => {
  const service = spawn(process.execPath, ["--input-type=module", "-e", serviceThatStops()], { stdio: "ignore" });
  const ended = once(service, "exit");
  await vi.waitUntil(() => existsSync(join(folder, "started")) && readFileSync(join(folder, "started"), "utf8").endsWith("\n"), 20_000);
  const [program, spawner] = readFileSync(join(folder, "started"), "utf8").trim().split(" ").map(Number) as [number, number];
  service.kill("SIGKILL");
  await ended;
  await expect.poll(() => [program, spawner].filter((id) => existsSync(`/proc/${id}`)), { timeout: 10_000 }).toEqual([]);
});
