import { rmSync } from "node:fs";
import type { ReceivedSpan } from "@hlvm/testing/otlp-messages";
import { startOtlpReceiver } from "@hlvm/testing/otlp-receiver";
import { createWorkspace, startTestMesh } from "../e2e/test-mesh.ts";
import { startMeasuringModel } from "./measuring-model.ts";
import { printTable } from "./print-table.ts";
import { quantile } from "./quantile.ts";

const TURNS = 20;
const ROUNDS_TO_WARM_UP = 20;
const ROUNDS = 10;
/** What is rarer belongs to a run, and not to its turns. */
const LEAST_A_TURN = 0.5;
const KINDS: Readonly<Record<number, string>> = { 1: "within", 2: "answering", 3: "calling" };

/** Where a tool turn's time goes: the spans of one, each from its call's beginning to its end as its own process saw it. */
export async function benchTurnSteps(): Promise<void> {
  const model = await startMeasuringModel(TURNS, "echo hi");
  const receiver = await startOtlpReceiver();
  const mesh = await startTestMesh({
    HLVM_OPENAI_COMPATIBLE_URL: model.url,
    HLVM_MAXIMUM_TURNS: String(TURNS + 1),
    HLVM_MAXIMUM_IDENTICAL_CALLS: String(TURNS),
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
  });
  const workspace = await createWorkspace({ "README.md": "# Nothing\n" });
  const gaps: number[] = [];
  let seen = 0;
  try {
    for (let round = 0; round < ROUNDS_TO_WARM_UP + ROUNDS; round++) {
      if (round === ROUNDS_TO_WARM_UP) seen = receiver.spans().length;
      const flags = ["--json", "--model", "openai-compatible/fake", "--permission-mode", "bypassPermissions"];
      await mesh.hlvm(["ask", ...flags, `Round ${round}: run the commands.`], { cwd: workspace });
      const taken = model.takeGaps();
      if (round >= ROUNDS_TO_WARM_UP) gaps.push(...taken);
    }
  } finally {
    await mesh.stop();
    await model.close();
    rmSync(workspace, { recursive: true });
  }
  const spans = receiver.spans().slice(seen);
  await receiver.close();
  const byName = Map.groupBy(spans, ({ service, kind, name }: ReceivedSpan) => `${service}, ${KINDS[kind]}: ${name}`);
  const rows = [...byName].map(([span, all]) => {
    const times = all.map(({ durationMilliseconds }) => durationMilliseconds);
    return { span, "a turn": all.length / (TURNS * ROUNDS), p50: quantile(times, 0.5), p95: quantile(times, 0.95) };
  });
  printTable(
    `Spans of a tool turn of ${quantile(gaps, 0.5).toFixed(1)} ms (p50), milliseconds; those within others are in their time too`,
    rows.filter((row) => row["a turn"] >= LEAST_A_TURN).toSorted((one, other) => other.p50 - one.p50),
  );
}
