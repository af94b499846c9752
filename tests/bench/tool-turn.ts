import { rmSync } from "node:fs";
import { createWorkspace, startTestMesh } from "../e2e/test-mesh.ts";
import { startMeasuringModel } from "./measuring-model.ts";
import { askPi } from "./peer-pi.ts";
import { printTable } from "./print-table.ts";
import { quantile } from "./quantile.ts";

const TURNS = 20;
/** A mesh serves for days, and its code is compiled in its first minutes; pi starts anew with every question. */
const ROUNDS_TO_WARM_UP = 20;
const ROUNDS = 10;
const COMMAND = "echo hi";

/** One tool turn: from the end of the model's answer to its next request, ours and pi's in turn within the same minute. */
export async function benchToolTurn(): Promise<void> {
  const model = await startMeasuringModel(TURNS, COMMAND);
  const mesh = await startTestMesh({
    HLVM_OPENAI_COMPATIBLE_URL: model.url,
    HLVM_MAXIMUM_TURNS: String(TURNS + 1),
    HLVM_MAXIMUM_IDENTICAL_CALLS: String(TURNS),
  });
  const workspace = await createWorkspace({ "README.md": "# Nothing\n" });
  const askHlvm = async (question: string): Promise<void> => {
    const flags = ["--json", "--model", "openai-compatible/fake", "--permission-mode", "bypassPermissions"];
    const ended = await mesh.hlvm(["ask", ...flags, question], { cwd: workspace });
    if (ended.code !== 0) throw new Error(`hlvm ended with ${ended.code}: ${ended.stdout.slice(-500)}`);
  };
  const agents = { hlvm: askHlvm, pi: (question: string) => askPi(model.url, question) };
  const gaps: Record<keyof typeof agents, number[]> = { hlvm: [], pi: [] };
  const ratios: number[] = [];
  try {
    for (let round = 0; round < ROUNDS_TO_WARM_UP + ROUNDS; round++) {
      const medians: Partial<Record<keyof typeof agents, number>> = {};
      for (const name of ["hlvm", "pi"] as const) {
        await agents[name](`Round ${round}: run the commands.`);
        const taken = model.takeGaps();
        if (taken.length !== TURNS) throw new Error(`${name} took ${taken.length} turns of ${TURNS}`);
        if (round >= ROUNDS_TO_WARM_UP) gaps[name].push(...taken);
        medians[name] = quantile(taken, 0.5);
      }
      ratios.push(medians.hlvm! / medians.pi!);
    }
  } finally {
    await mesh.stop();
    await model.close();
    rmSync(workspace, { recursive: true });
  }
  printTable(
    `Tool turn: ${COMMAND}, ${TURNS} turns, ${ROUNDS} rounds after ${ROUNDS_TO_WARM_UP} to warm up, milliseconds`,
    (["hlvm", "pi"] as const).map((agent) => ({
      agent,
      "isolates, decides, records": agent === "hlvm" ? "yes" : "no",
      p50: quantile(gaps[agent], 0.5),
      p95: quantile(gaps[agent], 0.95),
      max: Math.max(...gaps[agent]),
    })),
  );
  const shown = (some: readonly number[]): string => some.map((ratio) => ratio.toFixed(2)).join(", ");
  console.log(`\nhlvm / pi, median of each round: ${shown(ratios.slice(ROUNDS_TO_WARM_UP))}`);
  console.log(`while it warmed up: ${shown(ratios.slice(0, ROUNDS_TO_WARM_UP))}`);
}
