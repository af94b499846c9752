import { fileURLToPath } from "node:url";
import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { FinishReason, ModelPriceSchema } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { BudgetKind, BudgetScope, CacheBreakCause, UsageDimension } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import { valuesOf } from "../../testing/event-values.ts";
import { readCall } from "../../testing/read-call.ts";
import { say } from "../../testing/say.ts";
import { createTestDatabase } from "@hlvm/testing/create-test-database";
import { DONE, isCase, shellCall, useReplaceableProcess } from "../../testing/replaceable-process.ts";
import { runCallsOnce } from "../../testing/run-calls-once.ts";
import { scriptByTask } from "../../testing/script-by-task.ts";
import { PermissionMode } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { ada, startTestOrchestrator, type TestOrchestrator } from "../../testing/test-orchestrator.ts";
import { useTestOrchestrator } from "../../testing/use-test-orchestrator.ts";
import { usualBehaviour } from "../../testing/usual-behaviour.ts";

const test = useTestOrchestrator({ HLVM_MAXIMUM_TURNS: "6" });
const startReplaceable = useReplaceableProcess();
const MIGRATIONS = fileURLToPath(new URL("../../../migrations", import.meta.url));

/** What `say` tells of a call is 10 tokens of input and 5 of output: 20 nano-dollars. */
const prices = [
  create(ModelPriceSchema, { validFrom: timestampFromDate(new Date(0)), rates: { input: 1n, output: 2n, cacheRead: 1n, cacheWrite: 1n } }),
];
const priced = (): void => void (test.fake.behaviour.model = { ...usualBehaviour.model, prices });
const reserved = async (): Promise<unknown[]> => test.database.query("SELECT FROM budget_reservation");
const noBudgets = (): Promise<unknown> => test.database.query("DELETE FROM budget");
const setBudget = async (scope: BudgetScope, subject: string, kind: BudgetKind, limit: number): Promise<void> => {
  await test.database.query(
    "INSERT INTO budget (organization, scope, subject, kind, period, amount, began) VALUES ('local', $1, $2, $3, 1, $4, '-infinity')",
    [scope, subject, kind, limit],
  );
  // It is known within a heartbeat.
  await new Promise((resolve) => setTimeout(resolve, 1_200));
};
const calls = async (sessionId: string) =>
  test.database.query<{ turn: number; cost: number | null; is_estimated: boolean; tool_tokens: unknown }>(
    "SELECT turn, cost::int, is_estimated, tool_tokens FROM model_call WHERE session_id = $1 ORDER BY call_id",
    [sessionId],
  );

/** Begins a run of somebody who is in the team, as the edge delegates it. */
async function askAsMember({ orchestrator, asEdge }: Pick<TestOrchestrator, "orchestrator" | "asEdge">, prompt: string) {
  const request = { prompt, workspace: "/work", settings: { mode: PermissionMode.DEFAULT, canAsk: true } };
  return orchestrator.client.startRun(asEdge(request, { ...ada, teams: ["red", "blue"] }), await orchestrator.as(ada));
}

describe("what a run costs", () => {
  it("is in its events, in its session, and on record call by call", async () => {
    priced();
    test.answers(["", [readCall("a")]], ["Done."]);
    const { events, stopped, sessionId } = await test.run();
    expect(stopped.cost).toMatchObject({ nanoDollars: 40n, unpricedCalls: 0 });
    expect(valuesOf(events, "usageUpdate").map(({ cost }) => cost?.nanoDollars)).toEqual([20n, 40n]);
    const { session } = await test.orchestrator.client.getSession({ sessionId }, await test.orchestrator.as(ada));
    expect(session?.cost).toMatchObject({ nanoDollars: 40n, unpricedCalls: 0 });
    expect(await calls(sessionId)).toEqual([
      { turn: 1, cost: 20, is_estimated: false, tool_tokens: null },
      { turn: 2, cost: 20, is_estimated: false, tool_tokens: { read_file: expect.any(Number) } },
    ]);
  });

  it("is unknown, and not nothing, where nobody knows the model's price", async () => {
    test.answers(["Done."]);
    const { stopped, sessionId } = await test.run();
    expect(stopped.cost).toMatchObject({ nanoDollars: 0n, unpricedCalls: 1 });
    expect(await calls(sessionId)).toMatchObject([{ cost: null }]);
  });

  describe("where another model of its route answered", () => {
    const served = { ...usualBehaviour.model, id: "other/model", provider: "other", prices: [] };
    const dearer = create(ModelPriceSchema, { validFrom: timestampFromDate(new Date(0)), rates: { input: 10n, output: 20n } });
    const answerOf = (model: typeof served | (typeof served & { prices: (typeof dearer)[] })): void => {
      test.fake.behaviour.generate = async function* () {
        yield { event: { case: "servedBy", value: { model, why: "test/model is down." } } };
        yield* say("Done.");
      };
    };

    it("is what that one costs, and which it was is on record", async () => {
      test.fake.behaviour.model = { ...usualBehaviour.model, prices, route: "route/cheap" };
      answerOf({ ...served, prices: [dearer] } as never);
      const { stopped, sessionId, events } = await test.run("What is this?", { model: "route/cheap" });
      expect(stopped.cost).toMatchObject({ nanoDollars: 200n, unpricedCalls: 0 });
      expect(valuesOf(events, "assistantMessage")).toMatchObject([{ servedBy: "other/model", servedWhy: "test/model is down." }]);
      expect(await test.database.query("SELECT model FROM model_call WHERE session_id = $1", [sessionId])).toEqual([
        { model: "other/model" },
      ]);
      expect(test.fake.seen.requests).toMatchObject([{ model: "test/model", route: "route/cheap" }]);
      // Nothing is reserved: whatever it costs may answer.
      expect(test.fake.seen.requests[0]!.fallbackNeeds).toBeUndefined();
      answerOf(served);
      expect((await test.run()).stopped.cost).toMatchObject({ nanoDollars: 0n, unpricedCalls: 1 });
    });

    it("is no more than was reserved: a call with a budget lets no dearer one answer", async () => {
      test.fake.behaviour.model = { ...usualBehaviour.model, prices, route: "auto" };
      test.answers(["Done."]);
      await test.run("q", { budget: { nanoDollars: 100_000n } as never });
      expect(test.fake.seen.requests[0]!.fallbackNeeds).toMatchObject({ inputPrice: 1n, outputPrice: 2n });
    });

    it("was chosen by what was asked, which goes along without its secrets, and only where no model was named", async () => {
      test.answers(["Done."], ["Done."]);
      await test.run(`Fix it with ghp_${"aB3dE5fG7h".repeat(4).slice(0, 36)}`, { model: "auto" });
      await test.run("Fix it", { model: "test/model" });
      const [auto, named] = test.fake.seen.resolved;
      expect(auto).toMatchObject({
        model: "auto",
        task: expect.stringMatching(/^Fix it with \[secret/),
        needs: { tools: true, images: false },
      });
      expect(named).toMatchObject({ model: "test/model", task: "", needs: { tools: false } });
    });
  });

  it("of an answer that was cut is estimated from what was seen of it", async () => {
    priced();
    const seen = Promise.withResolvers<void>();
    test.fake.behaviour.generate = async function* (_, __, { signal }) {
      yield { event: { case: "textDelta", value: "abcdefgh ".repeat(100) } };
      seen.resolve();
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    };
    const run = await test.ask("q");
    await seen.promise;
    await test.watch(run.sessionId, 1n, ({ payload }) => payload.case === "messageDelta");
    await test.cancel(run);
    const events = await test.watch(run.sessionId);
    expect(valuesOf(events, "runStopped")[0]).toMatchObject({ reason: StopReason.USER_CANCELLED, usage: { outputTokens: 225n } });
    expect(await calls(run.sessionId)).toMatchObject([{ is_estimated: true, cost: expect.any(Number) }]);
  });
});

describe("a provider's cache", () => {
  const breaks = async (sessionId: string, as = ada) =>
    test.orchestrator.spending.listCacheBreaks({ sessionId }, await test.orchestrator.as(as));
  /** Every call reads five thousand tokens, so many of them from the cache. */
  const reading = (cacheReadTokens: bigint): void => {
    test.fake.behaviour.generate = async function* () {
      yield { event: { case: "textDelta", value: "Done." } };
      yield { event: { case: "usage", value: { inputTokens: 5_000n - cacheReadTokens, cacheReadTokens, outputTokens: 1n } } };
      yield { event: { case: "finish", value: { reason: FinishReason.STOP } } };
    };
  };

  it("that gives nothing of what a session sent before is on record, with why and what it cost", async () => {
    test.fake.behaviour.model = {
      ...usualBehaviour.model,
      prices: [create(ModelPriceSchema, { validFrom: timestampFromDate(new Date(0)), rates: { input: 10n, output: 2n, cacheRead: 1n } })],
    };
    reading(0n);
    const { sessionId } = await test.run("first");
    reading(4_900n);
    await test.run("second", { sessionId });
    expect(await breaks(sessionId)).toMatchObject({ breaks: [], calls: 2n, brokenCalls: 0n });
    reading(0n);
    await test.run("third", { sessionId });
    await test.database.query("UPDATE model_call SET at = at - interval '6 minutes' WHERE session_id = $1", [sessionId]);
    await test.run("fourth", { sessionId });
    expect(await breaks(sessionId)).toMatchObject({
      breaks: [
        { sessionId, cause: CacheBreakCause.IDLE, reusableTokens: 5_000n, cachedTokens: 0n, nanoDollars: 45_000n },
        { sessionId, cause: CacheBreakCause.PROVIDER },
      ],
      sums: [
        { breaks: 1n, lostTokens: 5_000n, nanoDollars: 45_000n },
        { breaks: 1n, lostTokens: 5_000n, nanoDollars: 45_000n },
      ],
      calls: 4n,
      brokenCalls: 2n,
      ofEverybody: false,
    });
    expect(await breaks(sessionId, { ...ada, id: "user:bob" })).toMatchObject({ breaks: [], calls: 0n });
  });

  it("is charged to every team of whoever asked", async () => {
    test.answers(["Done."]);
    const run = await askAsMember(test, "q");
    await test.watch(run.sessionId);
    const byTeam = { by: [UsageDimension.TEAM, UsageDimension.SESSION] };
    const { rows } = await test.orchestrator.spending.queryUsage(byTeam, await test.orchestrator.as(ada));
    expect(rows.filter(({ keys }) => keys[1] === run.sessionId).map(({ keys, calls: made }) => [keys[0], made])).toEqual([
      ["blue", 1n],
      ["red", 1n],
    ]);
  });
});

describe("a run with a budget of its own", () => {
  it("stops before the call that it has no room for, and says which budget it was and what was done", async () => {
    test.answers(["Looking.", [readCall("a")]]);
    const { stopped, sessionId } = await test.run("q", { budget: { turns: 2n } as never });
    expect(stopped).toMatchObject({
      reason: StopReason.MAX_BUDGET_REACHED,
      text: "Looking.",
      turns: 2,
      toolCalls: 2,
      message: expect.stringMatching(
        /^The budget of 2 turns of this run is used up \(2 turns used\), before the next model call\. Until then 2 tool calls/,
      ),
      advice: expect.stringMatching(/larger budget \(--max-cost.*--resume/),
      exhaustedBudget: { scope: BudgetScope.RUN, kind: BudgetKind.TURNS, limit: 2n, used: 2n },
    });
    expect(await calls(sessionId)).toHaveLength(2);
    expect(await reserved()).toEqual([]);
    expect(await test.database.query("SELECT FROM budget")).toEqual([]);
  });

  it("tells the model how much it may write, and ends where that was too little", async () => {
    test.fake.behaviour.generate = () => say("cut", [], FinishReason.LENGTH);
    const { stopped } = await test.run("q", { budget: { tokens: 8_000n } as never });
    const asked = test.fake.seen.requests[0]!.maxOutputTokens;
    expect(asked).toBeGreaterThan(256);
    expect(asked).toBeLessThan(8_000);
    expect(stopped).toMatchObject({ reason: StopReason.MAX_BUDGET_REACHED, text: "cut", exhaustedBudget: { kind: BudgetKind.TOKENS } });
  });

  it("is stopped while it streams, where the provider goes on beyond what it was told", async () => {
    priced();
    let pieces = 0;
    test.fake.behaviour.generate = async function* (_, __, { signal }) {
      while (!signal.aborted && pieces < 100_000) {
        pieces++;
        yield { event: { case: "textDelta", value: "and on and on and on and on and " } };
        if (pieces % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
    };
    const { stopped, sessionId } = await test.run("q", { budget: { nanoDollars: 12_000n } as never });
    expect(stopped).toMatchObject({
      reason: StopReason.MAX_BUDGET_REACHED,
      text: expect.stringContaining("and on"),
      message: expect.stringContaining("in the middle of an answer"),
      exhaustedBudget: { kind: BudgetKind.MONEY, limit: 12_000n, used: 12_000n },
    });
    expect(stopped.cost!.nanoDollars).toBeLessThanOrEqual(12_100n);
    expect(pieces).toBeLessThan(50_000);
    expect(await calls(sessionId)).toMatchObject([{ is_estimated: true }]);
    expect(await reserved()).toEqual([]);
  });

  it("is stopped when its time is over", async () => {
    test.fake.behaviour.generate = async function* (_, __, { signal }) {
      yield { event: { case: "textDelta", value: "Well, " } };
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    };
    const { stopped } = await test.run("q", { budget: { milliseconds: 700n } as never });
    expect(stopped).toMatchObject({
      reason: StopReason.MAX_BUDGET_REACHED,
      text: "Well, ",
      exhaustedBudget: { scope: BudgetScope.RUN, kind: BudgetKind.TIME, limit: 700n },
    });
  });

  it("of 0 is refused, and nothing begins", async () => {
    await expect(test.run("q", { budget: { nanoDollars: 0n } as never })).rejects.toThrow(
      "A run with a budget of 0 (--max-cost) could do nothing.",
    );
    await expect(test.run("q", { budget: { tokens: -1n } as never })).rejects.toThrow(/tokens/);
    expect(test.fake.seen.opened).toEqual([]);
  });

  it("of money cannot be held with a model that nobody knows the price of", async () => {
    const { stopped } = await test.run("q", { budget: { nanoDollars: 10n ** 9n } as never });
    expect(stopped).toMatchObject({
      reason: StopReason.ERROR,
      message: expect.stringContaining("Nobody knows what test/model costs"),
      advice: expect.stringContaining("HLVM_PRICES_FILE"),
    });
    expect(test.fake.seen.requests).toEqual([]);
  });
});

describe("a budget that was set for others too", () => {
  it("of 0 stops a run before its first call", { timeout: 30_000 }, async () => {
    await setBudget(BudgetScope.USER, "user:ada", BudgetKind.MONEY, 0);
    priced();
    const { stopped } = await test.run();
    await noBudgets();
    expect(stopped).toMatchObject({
      reason: StopReason.MAX_BUDGET_REACHED,
      message: "The budget of $0.00 of user:ada lets nothing happen, before the next model call.",
      advice: expect.stringContaining("hlvm budget set"),
      turns: 0,
    });
    expect(test.fake.seen.requests).toEqual([]);
  });

  it("of a team limits what its people begin, with the workers, and nobody else", { timeout: 30_000 }, async () => {
    await setBudget(BudgetScope.TEAM, "red", BudgetKind.TURNS, 2);
    const spawn = { id: "look", tool: "spawn_worker", arguments: { profile: "explore", task: "look" } };
    scriptByTask(test.fake.behaviour, { q: [["", [spawn]], ["Done."]], look: [["I looked."]], other: [["Done."]] });
    const { sessionId } = await askAsMember(test, "q");
    const [stopped] = valuesOf(await test.watch(sessionId), "runStopped");
    expect(stopped).toMatchObject({
      reason: StopReason.MAX_BUDGET_REACHED,
      turns: 1,
      exhaustedBudget: { scope: BudgetScope.TEAM, subject: "red", kind: BudgetKind.TURNS, limit: 2n, used: 2n },
    });
    expect((await test.run("other")).stopped).toMatchObject({ reason: StopReason.COMPLETED });
    await noBudgets();
  });

  it("of a team limits a run that another process goes on with", { timeout: 40_000 }, async () => {
    const { test: replaced, query, kill } = await startReplaceable();
    await query(
      `INSERT INTO budget (organization, scope, subject, kind, period, amount, began) VALUES ('local', ${BudgetScope.TEAM}, 'red', ${BudgetKind.TURNS}, 1, 1, '-infinity')`,
    );
    const gate = Promise.withResolvers<void>();
    replaced.answers(["I run it.", [shellCall("make")]], ["Done."]);
    runCallsOnce(replaced.fake.behaviour, () => gate.promise.then(() => DONE));
    const { sessionId, sequence } = await askAsMember(replaced, "q");
    await replaced.watch(sessionId, sequence, isCase("toolOutput"));
    await kill();
    gate.resolve();
    replaced.orchestrator = await replaced.startProcess();
    const [stopped] = valuesOf(await replaced.watch(sessionId, sequence), "runStopped");
    expect(stopped).toMatchObject({ reason: StopReason.MAX_BUDGET_REACHED, exhaustedBudget: { scope: BudgetScope.TEAM, subject: "red" } });
  });

  it("is freed of what a process held that died in a call, whose run goes on elsewhere", { timeout: 60_000 }, async () => {
    const { database, url, drop } = await createTestDatabase(MIGRATIONS);
    await database.query(
      "INSERT INTO budget (organization, scope, subject, kind, period, amount, began) VALUES ('local', 1, '', 1, 1, 20000000, '-infinity')",
    );
    const own = await startTestOrchestrator(url);
    try {
      const held = () => database.query("SELECT used::int, reserved > 0 AS holds FROM budget");
      own.fake.behaviour.model = { ...usualBehaviour.model, prices };
      const asked = Promise.withResolvers<void>();
      own.fake.behaviour.generate = (_, call, { signal }) => {
        if (call === 1) return say("", [readCall("a")]);
        if (call > 2) return say("Done.");
        asked.resolve();
        return (async function* () {
          yield { event: { case: "alive" as const, value: {} } };
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
        })();
      };
      const run = await own.ask("q");
      await asked.promise;
      expect(await held()).toEqual([{ used: 15, holds: true }]);
      await own.orchestrator.stop("SIGKILL");
      own.orchestrator = await own.startProcess();
      const events = await own.watch(run.sessionId);
      expect(valuesOf(events, "runStopped")[0]).toMatchObject({
        reason: StopReason.COMPLETED,
        text: "Done.",
        usage: { inputTokens: 20n },
        cost: { nanoDollars: 40n },
      });
      expect(await held()).toEqual([{ used: 30, holds: false }]);
      expect(await database.query("SELECT FROM budget_reservation")).toEqual([]);
    } finally {
      await own.stop();
      await drop();
    }
  });
});
