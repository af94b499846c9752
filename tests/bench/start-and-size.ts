import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startTestMesh, type TestMesh } from "../e2e/test-mesh.ts";
import { printTable } from "./print-table.ts";
import { quantile } from "./quantile.ts";
import { timeNpmStart } from "./time-npm-start.ts";

const START_ROUNDS = 3;
const ROUNDS = 7;
const LIMITS = { start: 5_000, ask: 400, help: 120, memory: 500 };
const SETTLE_MILLISECONDS = 3_000;

/** Start of an installed mesh, a question on a running one, the help text, and what the idle services hold. */
export async function benchStartAndSize(): Promise<void> {
  const starts: number[] = [];
  for (let round = 0; round < START_ROUNDS; round++) starts.push(await timeNpmStart());

  const folder = mkdtempSync(join(tmpdir(), "hlvm-bench-"));
  const scriptFile = join(folder, "script.json");
  writeFileSync(scriptFile, JSON.stringify({ conversations: [{ match: "", turns: [{ text: "At once." }] }] }));
  const environment = { HLVM_SCRIPT_FILE: scriptFile, HLVM_MODEL: "scripted/script" };
  const mesh = await startTestMesh(environment);
  try {
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MILLISECONDS));
    printMemory(mesh);
    const asks = await times(() => mesh.hlvm(["ask", "--json", "--model", "scripted/script", "hello"], { cwd: folder }));
    const helps = await times(() => mesh.hlvm(["--help"]));
    printTable("Whole commands, milliseconds", [
      {
        what: "npm start to ready, new HLVM_DIR",
        p50: quantile(starts, 0.5),
        min: Math.min(...starts),
        max: Math.max(...starts),
        limit: LIMITS.start,
      },
      {
        what: "ask, running mesh, model answers at once",
        p50: quantile(asks, 0.5),
        min: Math.min(...asks),
        max: Math.max(...asks),
        limit: LIMITS.ask,
      },
      { what: "hlvm --help", p50: quantile(helps, 0.5), min: Math.min(...helps), max: Math.max(...helps), limit: LIMITS.help },
    ]);
  } finally {
    await mesh.stop();
    rmSync(folder, { recursive: true });
  }
}

async function times(run: () => Promise<{ milliseconds: number; code: number | null; stderr: string }>): Promise<number[]> {
  const taken: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const { milliseconds, code, stderr } = await run();
    if (code !== 0) throw new Error(`it ended with ${code}: ${stderr}`);
    if (round > 0) taken.push(milliseconds);
  }
  return taken;
}

function printMemory(mesh: TestMesh): void {
  const rows = mesh.state.services
    .filter(({ name }) => name !== "PostgreSQL" && name !== "Meilisearch")
    .map(({ name, pid }) => ({ name, pid }))
    .concat({ name: "supervisor", pid: mesh.state.supervisorPid })
    .map(({ name, pid }) => ({ service: name, "RSS MB": megabytes(pid!, "Rss"), "PSS MB": megabytes(pid!, "Pss") }));
  const sum = (column: "RSS MB" | "PSS MB"): number => rows.reduce((total, row) => total + row[column], 0);
  printTable(`Memory of the idle services (limit ${LIMITS.memory} MB)`, [
    ...rows,
    { service: "all", "RSS MB": sum("RSS MB"), "PSS MB": sum("PSS MB") },
  ]);
}

function megabytes(pid: number, field: "Rss" | "Pss"): number {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(text)![1]) / 1024;
}
