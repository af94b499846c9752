import { rmSync } from "node:fs";
import { startOtlpReceiver } from "@hlvm/testing/otlp-receiver";
import { createWorkspace, startTestMesh, type TestMesh } from "../e2e/test-mesh.ts";
import { startMeasuringModel } from "./measuring-model.ts";
import { printTable } from "./print-table.ts";
import { quantile } from "./quantile.ts";

const TURNS = 20;
const ROUNDS_TO_WARM_UP = 10;
const ROUNDS = 20;
const COMMAND = "echo hi";

/** One tool turn in a mesh that exports every trace and in one that exports none, in turn within the same minute. */
export async function benchTelemetryCost(): Promise<void> {
  const model = await startMeasuringModel(TURNS, COMMAND);
  const receiver = await startOtlpReceiver();
  const settings = {
    HLVM_OPENAI_COMPATIBLE_URL: model.url,
    HLVM_MAXIMUM_TURNS: String(TURNS + 1),
    HLVM_MAXIMUM_IDENTICAL_CALLS: String(TURNS),
  };
  const meshes: Readonly<Record<"exports" | "exports nothing", TestMesh>> = {
    exports: await startTestMesh({ ...settings, OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url }),
    "exports nothing": await startTestMesh(settings),
  };
  const names = ["exports", "exports nothing"] as const;
  const workspace = await createWorkspace({ "README.md": "# Nothing\n" });
  const flags = ["--json", "--model", "openai-compatible/fake", "--permission-mode", "bypassPermissions"];
  const gaps: Record<keyof typeof meshes, number[]> = { exports: [], "exports nothing": [] };
  const ratios: number[] = [];
  try {
    for (let round = 0; round < ROUNDS_TO_WARM_UP + ROUNDS; round++) {
      const medians: Record<keyof typeof meshes, number> = { exports: 0, "exports nothing": 0 };
      // The one that comes second finds the machine warmer, or busier: each is so in every other round.
      for (const name of round % 2 === 0 ? names : names.toReversed()) {
        const ended = await meshes[name].hlvm(["ask", ...flags, `Round ${round}: run the commands.`], { cwd: workspace });
        const taken = model.takeGaps();
        if (ended.code !== 0 || taken.length !== TURNS) throw new Error(`hlvm ended with ${ended.code} after ${taken.length} turns`);
        if (round >= ROUNDS_TO_WARM_UP) gaps[name].push(...taken);
        medians[name] = quantile(taken, 0.5);
      }
      if (round >= ROUNDS_TO_WARM_UP) ratios.push(medians.exports / medians["exports nothing"]);
    }
  } finally {
    await Promise.all(names.map((name) => meshes[name].stop()));
    await model.close();
    rmSync(workspace, { recursive: true });
  }
  const spans = receiver.spans().length;
  await receiver.close();
  printTable(
    `Tool turn with and without export, ${TURNS} turns, ${ROUNDS} rounds after ${ROUNDS_TO_WARM_UP} to warm up, milliseconds`,
    names.map((name) => ({ mesh: name, p50: quantile(gaps[name], 0.5), p95: quantile(gaps[name], 0.95), max: Math.max(...gaps[name]) })),
  );
  console.log(`\nexports / exports nothing, median of each round: ${ratios.map((ratio) => ratio.toFixed(2)).join(", ")}`);
  console.log(`their median: ${quantile(ratios, 0.5).toFixed(3)}; ${spans} spans received`);
}
