// A program: measures sandboxes as sessions use them, without the services around, and prints the figures as JSON.
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { testEnforcement } from "@hlvm/testing/test-identity";
import { testLog } from "@hlvm/testing/test-log";
import { LocalFolders } from "../adapters/local-folders.ts";
import { SessionSandbox } from "../domain/session-sandbox.ts";
import { openTestIsolation } from "./open-test-sandbox.ts";

const ROUNDS = 40;
const AT_ONCE = 200;
const IDLE_MILLISECONDS = 60_000;
/** A model thinks for longer than a sandbox takes to stand by. */
const THOUGHT_MILLISECONDS = 60;

const { isolation, stateDirectory } = await openTestIsolation({ memoryMebibytes: 2_048, processes: 512 });
const workspace = realpathSync(mkdtempSync(join(tmpdir(), "hlvm-measure-")));
writeFileSync(join(workspace, "a.txt"), "x\n");
const folder = await new LocalFolders([]).inspect(workspace);
const request = { sessionId: "measure", workspace: folder };
const signal = new AbortController().signal;
let calls = 0;

const open = (): SessionSandbox =>
  new SessionSandbox({ isolation, request, idleMilliseconds: IDLE_MILLISECONDS, log: testLog, onIdle: () => undefined });

async function call(
  session: SessionSandbox,
  tool: string,
  given: object,
): Promise<{ readonly firstOutput: number; readonly closed: number }> {
  const enforcement = { ...testEnforcement, level: "L0", profile: "read" } as const;
  const run = { callId: `call-${++calls}`, tool, argumentsJson: JSON.stringify(given), timeoutMilliseconds: 20_000, enforcement };
  const began = performance.now();
  let firstOutput = Number.NaN;
  const result = await session.use(run, (execute) => execute(() => (firstOutput = performance.now() - began), signal));
  if (!result.success) throw new Error(result.content);
  return { firstOutput, closed: performance.now() - began };
}
const echo = (session: SessionSandbox) => call(session, "shell_exec", { command: "echo hi" });

async function commands(thought: number): Promise<{ readonly firstOutput: number[]; readonly closed: number[] }> {
  const session = open();
  const taken = { firstOutput: [] as number[], closed: [] as number[] };
  for (let round = -5; round < ROUNDS; round++) {
    if (thought > 0) await wait(thought);
    else await session.stop();
    const { firstOutput, closed } = await echo(session);
    if (round < 0) continue;
    taken.firstOutput.push(firstOutput);
    taken.closed.push(closed);
  }
  await session.close();
  return taken;
}

async function firstCalls(tool: string, given: object): Promise<number[]> {
  const taken: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const session = open();
    const began = performance.now();
    session.warm();
    await call(session, tool, given);
    taken.push(performance.now() - began);
    await session.close();
  }
  return taken;
}

/** Proportional set size of a process and all below it, MiB. */
function memoryBelow(processId: number): number {
  const own = Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${processId}/smaps_rollup`, "latin1"))?.[1] ?? 0) / 1_024;
  return childrenOf(processId).reduce((sum, child) => sum + memoryBelow(child), own);
}

function childrenOf(processId: number): number[] {
  return readdirSync(`/proc/${processId}/task`).flatMap((task) =>
    readFileSync(`/proc/${processId}/task/${task}/children`, "latin1").split(" ").filter(Boolean).map(Number),
  );
}

async function idleRunner(): Promise<number> {
  const session = open();
  // A process of its own starts all sandboxes.
  const sandboxes = (): number[] => childrenOf(process.pid).flatMap(childrenOf);
  const before = sandboxes();
  await call(session, "read_file", { path: "a.txt" });
  await wait(1_000);
  const memory = sandboxes()
    .filter((child) => !before.includes(child))
    .map(memoryBelow);
  await session.close();
  return memory.reduce((sum, one) => sum + one, 0);
}

async function manyAtOnce(): Promise<{ readonly seconds: number; readonly mebibytes: number }> {
  const began = performance.now();
  const sessions = Array.from({ length: AT_ONCE }, open);
  const results = await Promise.all(sessions.map((session) => call(session, "read_file", { path: "a.txt" }).then(() => echo(session))));
  const seconds = (performance.now() - began) / 1_000;
  if (results.length !== AT_ONCE || sessions.some(({ isUp }) => !isUp)) throw new Error("not all of them are up");
  const mebibytes = childrenOf(process.pid)
    .map(memoryBelow)
    .reduce((sum, one) => sum + one, 0);
  await Promise.all(sessions.map((session) => session.close()));
  return { seconds, mebibytes };
}

const figures = {
  cold: await commands(0),
  standingBy: await commands(THOUGHT_MILLISECONDS),
  firstCommand: await firstCalls("shell_exec", { command: "echo hi" }),
  firstFileTool: await firstCalls("read_file", { path: "a.txt" }),
  idleRunnerMebibytes: await idleRunner(),
  atOnce: { sessions: AT_ONCE, ...(await manyAtOnce()) },
};
console.log(JSON.stringify(figures));
for (const path of [workspace, stateDirectory]) rmSync(path, { recursive: true, force: true });
process.exit(0);
