import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { chaos } from "./chaos.ts";
import { crowd } from "./crowd.ts";
import { nextStep, promptOf, type ChatMessage } from "./next-step.ts";
import { planHarm, planOneKillEach, type Harm } from "./plan-harm.ts";

const PARTS = ["PostgreSQL", "Meilisearch", "policy", "memory", "model-gateway", "sandbox", "orchestrator", "edge"];
const ignore = (): void => undefined;

function planned(seed: number, parts: readonly string[]): Harm[] {
  const plan = planHarm(seed, parts);
  return Array.from({ length: 200 }, () => plan.next().value);
}

/** A conversation in which these commands gave these results, in order. */
function conversation(...results: readonly string[]): ChatMessage[] {
  const messages: ChatMessage[] = [{ role: "user", content: promptOf(3, 2) }];
  for (const [index, result] of results.entries()) {
    const step = nextStep(messages);
    if ("done" in step) throw new Error(`the model ended before "${result}"`);
    const call = { id: `${index}`, function: { name: "shell_exec", arguments: JSON.stringify({ command: step.command }) } };
    messages.push({ role: "assistant", tool_calls: [call] }, { role: "tool", tool_call_id: `${index}`, content: result });
  }
  return messages;
}

describe("chaos", () => {
  it("follows from its seed and the parts' names alone", () => {
    expect(planned(7, PARTS)).toEqual(planned(7, PARTS.toReversed()));
    expect(planned(7, PARTS)).not.toEqual(planned(8, PARTS));
    expect(new Set(planned(7, PARTS).map(({ part }) => part))).toEqual(new Set(PARTS));
  });

  it("has a model that looks before it writes again what may be there", () => {
    expect(nextStep(conversation("counted=1"))).toMatchObject({ words: "I write line 2." });
    expect(nextStep(conversation("It is not known whether it took effect."))).toMatchObject({ words: "I look for line 1." });
    expect(nextStep(conversation("It is not known.", "It is not known."))).toMatchObject({ words: "I look for line 1." });
    expect(nextStep(conversation("It is not known.", "counted=0"))).toMatchObject({ words: "I write line 1." });
    expect(nextStep(conversation("It is not known.", "counted=1"))).toMatchObject({ words: "I write line 2." });
    expect(nextStep(conversation("counted=1", "counted=1"))).toEqual({ done: "All 2 lines are written." });
  });

  it("loses and doubles nothing while each part of the mesh is killed once", async () => {
    const report = await chaos({
      runs: 6,
      turns: 4,
      atOnce: 6,
      pauseMilliseconds: 400,
      limitMilliseconds: 90_000,
      name: "test",
      plan: (parts) => planOneKillEach(7, parts),
      onProgress: ignore,
    });
    expect({ failures: report.failures, leftOver: report.leftOver, runs: report.runs }).toEqual({ failures: [], leftOver: [], runs: 6 });
    expect(new Set(report.journal.map(({ part }) => part))).toEqual(new Set(report.parts));
    const written = readFileSync(join(report.folder, "journal.ndjson"), "utf8").trimEnd().split("\n");
    expect(written.map((line) => JSON.parse(line) as unknown)).toEqual(JSON.parse(JSON.stringify(report.journal)));
  }, 180_000);

  it("answers everybody who asks at the same moment", async () => {
    expect((await crowd({ chats: 24, commands: 0, onProgress: ignore })).faults).toEqual([]);
  }, 120_000);
});
