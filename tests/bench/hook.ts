import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { repositoryRoot, startTestMesh, type TestMesh } from "../e2e/test-mesh.ts";
import { connectAsSuperuser } from "../attacks/mesh-database.ts";
import { printTable } from "./print-table.ts";
import { quantile } from "./quantile.ts";

const ROUNDS = 100;
const FACTS = 200;
const SESSIONS = 200;
const TURNS = 20;
const LIMIT = 150;
const PROGRAM = join(repositoryRoot, "services", "cli", "bin", "hlvm");

/** What a tool waits for with every prompt: the whole process, from its start to its end. */
export async function benchHook(): Promise<void> {
  const nowhere = mkdtempSync(join(tmpdir(), "hlvm-bench-"));
  const mesh = await startTestMesh();
  try {
    for (let number = 0; number < FACTS; number += 1)
      await remember(mesh.state.edgeUrl, mesh.state.tokenFile, `Service number${number} is deployed from branch release${number}`);
    for (let number = 0; number < SESSIONS; number += 1) await importSession(mesh.state.edgeUrl, mesh.state.tokenFile, number);
    await analyze(mesh);
    const rows = [
      await timed("mesh up, a pointer", mesh.directory, (round) => `which branch is service number${round} deployed from?`, true),
      await timed("mesh up, a session", mesh.directory, (round) => `how was the leak in boiler${round} mended?`, true),
      await timed("mesh up, nothing fits", mesh.directory, () => "why is the sky blue at noon?", false),
      await timed("mesh up, generative prompt", mesh.directory, () => "write a haiku about autumn", false),
      await timed("mesh down", nowhere, (round) => `which branch is service number${round} deployed from?`, false),
    ];
    printTable(
      `The recall hook, milliseconds (${ROUNDS} processes each, ${FACTS} facts, ${SESSIONS} sessions of ${TURNS} turns; limit of the p95: ${LIMIT})`,
      rows,
    );
  } finally {
    await mesh.stop();
    rmSync(nowhere, { recursive: true });
  }
}

/** As PostgreSQL does by itself a minute after an import. */
async function analyze(mesh: TestMesh): Promise<void> {
  const database = await connectAsSuperuser({ mesh }, "hlvm_memory");
  await database.query("ANALYZE");
  await database.end();
}

async function timed(what: string, home: string, promptOf: (round: number) => string, speaks: boolean) {
  const taken: number[] = [];
  let spoken = 0;
  for (let round = 0; round <= ROUNDS; round += 1) {
    const event = {
      session_id: `${what}-${round}`.replaceAll(/\W/g, "-"),
      hook_event_name: "UserPromptSubmit",
      cwd: "/tmp",
      prompt: promptOf(round),
    };
    const begun = performance.now();
    const child = spawn("/bin/sh", ["-c", `'${PROGRAM}' hook run --tool claude-code --live --home '${home}'`], {
      stdio: ["pipe", "pipe", "ignore"],
    });
    let said = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
    child.stdin.end(JSON.stringify(event));
    await once(child, "close");
    if (said !== "") spoken += 1;
    // The first one compiles.
    if (round > 0) taken.push(performance.now() - begun);
  }
  // On a machine that is busy with other things, an answer may come too late.
  if (speaks ? spoken === 0 : spoken > 0) throw new Error(`${what}: it spoke ${spoken} times`);
  return { what, spoken, p50: quantile(taken, 0.5), p95: quantile(taken, 0.95), p99: quantile(taken, 0.99), max: Math.max(...taken) };
}

function remember(edgeUrl: string, tokenFile: string, text: string): Promise<void> {
  return send(edgeUrl, tokenFile, "MemoryService/WriteFact", { text, scope: "FACT_SCOPE_PERSONAL" });
}

function importSession(edgeUrl: string, tokenFile: string, number: number): Promise<void> {
  const turns = Array.from({ length: TURNS }, (_, ordinal) => ({
    key: String(ordinal),
    ordinal,
    speaker: ordinal % 2 === 0 ? "SPEAKER_PERSON" : "SPEAKER_ASSISTANT",
    text:
      ordinal === 0
        ? `The leak in boiler${number} was mended`
        : `Step ${ordinal} of job${number}: the valve is turned and looked at again.`,
  }));
  return send(edgeUrl, tokenFile, "TranscriptService/ImportTurns", { tool: "claude-code", session: `job-${number}`, turns });
}

async function send(edgeUrl: string, tokenFile: string, method: string, request: object): Promise<void> {
  const response = await fetch(`${edgeUrl}/hlvm.memory.v1.${method}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${readFileSync(tokenFile, "utf8").trim()}` },
    body: JSON.stringify(request),
  });
  if (!response.ok) throw new Error(await response.text());
}
