import { fileURLToPath } from "node:url";
import { it } from "vitest";
import { createTestDatabase } from "@hlvm/testing/create-test-database";
import { say } from "./say.ts";
import { startTestOrchestrator } from "./test-orchestrator.ts";

it("times", async () => {
  const database = await createTestDatabase(fileURLToPath(new URL("../../migrations", import.meta.url)));
  const test = await startTestOrchestrator(database.url, { HLVM_MAXIMUM_TURNS: "400" });
  const gaps: number[] = [];
  let ended = 0;
  test.fake.behaviour.generate = async function* (_, call) {
    if (ended > 0) gaps.push(performance.now() - ended);
    if (call > 150) return yield* say("done");
    yield* say("", [{ tool: "read_file", arguments: { path: `f${call}` } }]);
    ended = performance.now();
  };
  const { sessionId, sequence } = await test.ask("q");
  await test.watch(sessionId, sequence);
  gaps.sort((a, b) => a - b);
  console.log("gap p50", gaps[gaps.length >> 1], "p90", gaps[Math.floor(gaps.length * 0.9)], "max", gaps.at(-1));
  const t = performance.now();
  await test.orchestrator.stop();
  console.log("stop", performance.now() - t);
  await test.stop();
  await database.drop();
}, 60000);
