import { ConnectError } from "@connectrpc/connect";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { StopReason, StopReasonSchema, type RunStopped } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { findingOf, type AttackCase, type Finding } from "../attack-case.ts";
import { readFile, type AttackMesh } from "../attack-mesh.ts";
import type { AttackRun } from "../attack-run.ts";

/** What no honest server says of a call. */
const USAGES: Readonly<Record<string, object>> = {
  "a negative usage": { prompt_tokens: -1_000_000_000, completion_tokens: -1_000_000_000, total_tokens: -2_000_000_000 },
  "a negative share of the cache": { prompt_tokens: 100, completion_tokens: 5, prompt_tokens_details: { cached_tokens: -1e15 } },
  "more from the cache than there was": { prompt_tokens: 100, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 1e30 } },
  "a usage beyond every number": { prompt_tokens: 1e300, completion_tokens: 1e300 },
  "a usage beyond 64 bits": { prompt_tokens: 2 ** 63, completion_tokens: 2 ** 63 },
  "fractions of tokens": { prompt_tokens: 0.5, completion_tokens: 1.25, total_tokens: 99.75 },
  "words in place of numbers": { prompt_tokens: "many", completion_tokens: "12", total_tokens: null },
  "objects in place of numbers": { prompt_tokens: { a: 1 }, completion_tokens: [7] },
};

const stopOf = ({ events }: AttackRun): RunStopped | undefined =>
  events.flatMap(({ payload }) => (payload.case === "runStopped" ? [payload.value] : []))[0];

const word = (stopped?: RunStopped): string => enumWord(StopReasonSchema, stopped?.reason ?? StopReason.UNSPECIFIED);

/** A run whose model says so, beside another one, and one with a budget. @returns what it came to that it should not */
async function tellUsage(mesh: AttackMesh, what: string, usage: object): Promise<string[]> {
  const workspace = mesh.workspace({ "a.txt": "a\n" });
  const forever = Array.from({ length: 6 }, (_, index) => ({ calls: [readFile(`${index}.txt`)], usage }));
  const budget = { turns: 3n, tokens: 30_000n };
  const [told, beside, limited] = (
    await Promise.all([
      mesh.ask(workspace, "plan", forever),
      mesh.ask(workspace, "plan", [[readFile("a.txt")], [readFile("a.txt")]]),
      mesh.ask(workspace, "plan", forever, { request: { budget } }),
    ])
  ).map(stopOf);
  const counts = [told?.usage?.inputTokens ?? 0n, told?.usage?.outputTokens ?? 0n];
  return [
    ...(told?.reason === StopReason.COMPLETED ? [] : [`${what}: the run ends with ${word(told)} (${told?.message})`]),
    ...(counts.every((tokens) => tokens > 0n) ? [] : [`${what}: it counts as ${counts.join(" and ")} tokens`]),
    ...(beside?.reason === StopReason.COMPLETED ? [] : [`${what}: another run ended with it`]),
    ...(limited?.reason === StopReason.MAX_BUDGET_REACHED ? [] : [`${what}: a budget is not held, but ${word(limited)}`]),
  ];
}

/** No number that a model tells gives a budget back, breaks its run's records, or ends the runs of others. */
async function lyingUsage(mesh: AttackMesh): Promise<Finding> {
  const problems = await Promise.all(Object.entries(USAGES).map(([what, usage]) => tellUsage(mesh, what, usage)));
  return findingOf(problems.flat(), "what is no count is not believed; the estimate counts");
}

async function nothingOrLess(mesh: AttackMesh): Promise<Finding> {
  const problems: string[] = [];
  const workspace = mesh.workspace({ "a.txt": "a\n" });
  for (const budget of [{ tokens: 0n }, { turns: 0n }, { milliseconds: 0n }, { nanoDollars: 0n }, { tokens: -1n }, { turns: -5n }])
    await mesh.ask(workspace, "plan", [[readFile("a.txt")]], { request: { budget } }).then(
      () => problems.push(`a run with ${Object.entries(budget).join(" ")} began`),
      (thrown: unknown) => {
        if (!(thrown instanceof ConnectError)) throw thrown;
      },
    );
  return findingOf(problems, "refused before it begins");
}

/** A worker that says to use far more than its parent has. */
async function greedyWorker(mesh: AttackMesh): Promise<Finding> {
  const workspace = mesh.workspace({ "a.txt": "a\n" });
  const task = `spend in ${workspace}.`;
  const usage = { prompt_tokens: 50_000, completion_tokens: 5_000, total_tokens: 55_000 };
  const forever = Array.from({ length: 20 }, (_, index) => ({ calls: [readFile(`${index}.txt`)], usage }));
  mesh.model.play(task, forever, "done");
  const spawn = { tool: "spawn_worker", arguments: { profile: "general", task, turns: 1_000 } };
  const tokens = 60_000n;
  const run = await mesh.ask(workspace, "plan", [[spawn], [spawn], [spawn]], { request: { budget: { tokens } } });
  const worker = run.events.flatMap(({ payload }) => (payload.case === "workerCompleted" ? [payload.value] : []));
  const used = worker.reduce((sum, one) => sum + (one.usage?.inputTokens ?? 0n) + (one.usage?.outputTokens ?? 0n), 0n);
  const calls = mesh.model.requestsWith(task).length;
  return findingOf(
    [
      ...(worker.length === 0 ? ["no worker ran: nothing was shown"] : []),
      ...(worker.some(({ stopReason }) => stopReason === StopReason.COMPLETED) ? ["a worker goes on beyond its share"] : []),
      ...(used > tokens * 2n ? [`workers used ${used} tokens of ${tokens}`] : []),
      ...(calls > 4 ? [`the model was asked ${calls} times after the budget was used up`] : []),
    ],
    `${worker.length} workers, stopped after ${used} tokens`,
  );
}

export const agentBudgets: readonly AttackCase[] = [
  { group: "agent", name: "a model that lies about what it used", run: lyingUsage },
  { group: "agent", name: "a run with a budget of nothing, or less", run: nothingOrLess },
  { group: "agent", name: "a worker that uses more than its parent has", run: greedyWorker },
];
