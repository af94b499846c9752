import { spawn, type ChildProcess } from "node:child_process";
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

/** A program in bwrap's place that starts another, not bound to its life, and tells its id only once it is let. */
function writeSlowProgram(): string {
  const program = join(folder, "program");
  const told = `{ \\"child-pid\\": $! }`;
  const lines = [
    "#!/bin/sh",
    "sleep 1000 &",
    `echo $! $$ $PPID > ${folder}/started`,
    `while [ ! -e ${folder}/let ]; do sleep 0.02; done`,
    `echo "${told}" >&${descriptors.information}`,
    "wait",
  ];
  writeFileSync(program, lines.join("\n"), { mode: 0o755 });
  return program;
}

/** Of a service that starts a runner by this program. */
function optionsOf(bubblewrap: string): object {
  const layout = { workspace: folder, etc: folder, ripgrep: "/usr/bin/rg", temporaryMebibytes: 1, fileMebibytes: 1 };
  const occupant = { kind: "runner", program: join(folder, "runner.cjs") };
  return { bubblewrap, seccomp: "/dev/null", layout: { ...layout, occupant } };
}

/** A service that starts a runner, and closes its spawner when it is told to. */
function serviceThatCloses(): string {
  return `
    import { writeFileSync } from "node:fs";
    import { Spawner } from ${JSON.stringify(SPAWNER)};
    const spawner = new Spawner();
    spawner.start(${JSON.stringify(optionsOf(writeSlowProgram()))}, undefined);
    process.once("SIGTERM", () => {
      spawner.close();
      writeFileSync(${JSON.stringify(join(folder, "closed"))}, "");
    });`;
}

/** Starts it. @returns the ids that its program has written */
async function startService(script: string): Promise<{ readonly service: ChildProcess; readonly ids: readonly number[] }> {
  const service = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: "ignore" });
  await vi.waitUntil(() => existsSync(join(folder, "started")) && readFileSync(join(folder, "started"), "utf8").endsWith("\n"), 20_000);
  return { service, ids: readFileSync(join(folder, "started"), "utf8").trim().split(" ").map(Number) };
}

const there = (ids: readonly number[]): readonly number[] => ids.filter((id) => existsSync(`/proc/${id}`));

/** A service that starts a runner, and stops before it has acknowledged the runner's descriptor. */
function serviceThatStops(): string {
  return `
    import { Spawner } from ${JSON.stringify(SPAWNER)};
    new Spawner().start(${JSON.stringify(optionsOf(writeProgram()))}, undefined);
    process.kill(process.pid, "SIGSTOP");`;
}

it("leaves nothing behind where the service is killed while a runner's descriptor is under way", { timeout: 30_000 }, async () => {
  const { service, ids } = await startService(serviceThatStops());
  const ended = once(service, "exit");
  service.kill("SIGKILL");
  await ended;
  await expect.poll(() => there(ids)).toEqual([]);
});

// The first process of a sandbox is bound to bwrap's life only once bwrap has let it run.
it.each(["closes", "is killed"])("leaves nothing behind of a sandbox that is being started where its service %s", async (how) => {
  const { service, ids } = await startService(serviceThatCloses());
  const ended = once(service, "exit");
  if (how === "closes") {
    service.kill("SIGTERM");
    await vi.waitUntil(() => existsSync(join(folder, "closed")), 20_000);
  }
  if (how === "is killed") {
    service.kill("SIGKILL");
    await ended;
  }
  writeFileSync(join(folder, "let"), "");
  await expect.poll(() => there(ids)).toEqual([]);
  service.kill("SIGKILL");
});
