import { expect, it } from "vitest";
import { StopReason, type Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { BudgetKind, BudgetScope } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import { valuesOf } from "../../testing/event-values.ts";
import { scriptByTask } from "../../testing/script-by-task.ts";
import { untilBegun } from "../../testing/until-begun.ts";
import { useTestOrchestrator } from "../../testing/use-test-orchestrator.ts";

const test = useTestOrchestrator();
const isCase = (type: Event["payload"]["case"]) => (event: Event) => event.payload.case === type;
const spawn = (task: string) => ({ id: task, tool: "spawn_worker", arguments: { profile: "explore", task } });

const tokensOf = async (subject: string) => {
  const sql = "SELECT amount::int, used::int, reserved::int FROM budget WHERE subject = $1 AND kind = $2";
  return (await test.database.query<{ amount: number; used: number; reserved: number }>(sql, [subject, BudgetKind.TOKENS]))[0];
};

it("a worker has a part of its parent's own budget and uses it up in both; the rest goes back", async () => {
  const gate = Promise.withResolvers<void>();
  scriptByTask(test.fake.behaviour, {
    q: [["", [spawn("one"), spawn("two")]], ["Done."]],
    one: [
      async function* () {
        yield { event: { case: "textDelta", value: "Well, " } };
        await gate.promise;
        yield { event: { case: "usage", value: { inputTokens: 700n, outputTokens: 50n } } };
        yield { event: { case: "finish", value: { reason: 1 } } };
      },
    ],
    two: [["Two."]],
  });
  const { sessionId, runId } = await test.ask("q", { budget: { tokens: 300_000n } as never });
  const isOne = ({ payload }: Event): boolean => payload.case === "workerSpawned" && payload.value.task === "one";
  const worker = valuesOf(await test.watch(sessionId, 1n, isOne), "workerSpawned").find(({ task }) => task === "one");
  const { childRunId, childSessionId } = worker!;
  await untilBegun(test, childSessionId);
  await test.watch(childSessionId, 1n, isCase("messageDelta"));
  const own = (await tokensOf(childRunId))!;
  // Two workers and the run itself share what its first call left, in any order.
  expect(own.amount).toBeGreaterThan(90_000);
  expect(own.amount).toBeLessThan(110_000);
  expect(own.reserved).toBeGreaterThan(0);
  const held = (await tokensOf(runId))!;
  expect(held.reserved).toBeGreaterThanOrEqual(own.amount);
  const session = { scope: BudgetScope.SESSION, kind: BudgetKind.TOKENS };
  await test.database.query(
    "INSERT INTO budget (organization, scope, subject, kind, period, amount, began) VALUES ('local', $1, $2, $3, 1, 1000000, '-infinity')",
    [session.scope, sessionId, session.kind],
  );
  gate.resolve();
  const events = await test.watch(sessionId);
  expect(valuesOf(events, "runStopped")).toMatchObject([{ reason: StopReason.COMPLETED }]);
  expect(await tokensOf(childRunId)).toBeUndefined();
  // The worker's session is its parent's for what is set there, as its workspace is.
  expect((await tokensOf(sessionId))!.used).toBeGreaterThanOrEqual(750);
  expect(await test.database.query("SELECT FROM budget_reservation")).toEqual([]);
});

it("a worker is not started where too little is left for it", async () => {
  scriptByTask(test.fake.behaviour, { q: [["", [spawn("one")]], ["Alone."]], one: [["One."]] });
  const { sessionId } = await test.ask("q", { budget: { turns: 2 } as never });
  const events = await test.watch(sessionId);
  expect(valuesOf(events, "workerSpawned")).toEqual([]);
  expect(valuesOf(events, "toolEnd")[0]!.result!.content).toContain("Not run: too little of");
  expect(valuesOf(events, "runStopped")).toMatchObject([{ reason: StopReason.COMPLETED, text: "Alone." }]);
});
