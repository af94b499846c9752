import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { it } from "vitest";
import { createTestDatabase } from "@hlvm/testing/create-test-database";
import { allow } from "./fake-services.ts";
import { say } from "./say.ts";
import { startTestOrchestrator } from "./test-orchestrator.ts";

const cpu = (pid: number): number => { const f = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" "); return (Number(f[11]) + Number(f[12])) * 10; };
const median = (xs: number[]): string => { const s = [...xs].sort((a, b) => a - b); return `${s[s.length >> 1]!.toFixed(2)} (min ${s[0]!.toFixed(2)}, p25 ${s[s.length >> 2]!.toFixed(2)})`; };

it("times", async () => {
  const database = await createTestDatabase(fileURLToPath(new URL("../../migrations", import.meta.url)));
  const test = await startTestOrchestrator(database.url, { HLVM_MAXIMUM_TURNS: "400", ...(process.env.PROF ? { NODE_OPTIONS: "--cpu-prof --cpu-prof-dir=/tmp/prof" } : {}) });
  const s: Record<string, number[]> = { answerToDecide: [], decideToExecute: [], executeToNext: [], gap: [] };
  let ended = 0, decided = 0, executed = 0;
  test.fake.behaviour.generate = async function* (_, call) {
    const now = performance.now();
    if (ended > 0) { s.gap!.push(now - ended); s.executeToNext!.push(now - executed); }
    if (call > 20) return yield* say("done");
    yield* say("", [{ tool: "read_file", arguments: { path: `f${call}` } }]);
    ended = performance.now();
  };
  test.fake.behaviour.decide = (request) => { s.answerToDecide!.push(performance.now() - ended); decided = performance.now(); return allow(request); };
  test.fake.behaviour.execute = async function* ({ call }) { s.decideToExecute!.push(performance.now() - decided); yield { event: { case: "result", value: { success: true, content: call!.argumentsJson } } }; executed = performance.now(); };
  const rss = () => readFileSync(`/proc/${test.orchestrator.pid}/status`, "utf8").match(/VmRSS.*/)![0];
  console.log("idle", rss());
  const round = async (): Promise<void> => {
    ended = 0;
    const { sessionId, sequence } = await test.ask("q");
    await test.watch(sessionId, sequence);
    test.fake.seen.requests.length = 0;
  };
  for (let i = 0; i < 5; i++) await round();
  for (const v of Object.values(s)) v.length = 0;
  const before = cpu(test.orchestrator.pid);
  for (let i = 0; i < 10; i++) await round();
  console.log("cpu ms per turn", (cpu(test.orchestrator.pid) - before) / 200);
  for (const [k, v] of Object.entries(s)) console.log(k, median(v));
  console.log(readFileSync(`/proc/${test.orchestrator.pid}/status`, "utf8").match(/VmRSS.*/)![0]);
  await test.stop();
  await database.drop();
}, 60000);
