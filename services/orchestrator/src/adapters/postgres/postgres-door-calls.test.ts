import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { OutcomeStatus } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { testLog } from "@hlvm/testing/test-log";
import { ModelDoor } from "@hlvm/proto/hlvm/session/v1/model_call_pb";
import { BudgetKind, BudgetPeriod, BudgetScope, UsageDimension } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import { createTestDatabase, type TestDatabase } from "@hlvm/testing/create-test-database";
import { isRefusal, type SettledCall } from "../../domain/budget/budget-store.ts";
import type { CalledModel } from "../../domain/door/door-models.ts";
import { settleLostCalls } from "../../domain/door/settle-lost-calls.ts";
import { PostgresBudgetStore } from "./postgres-budget-store.ts";
import { PostgresDoorCalls } from "./postgres-door-calls.ts";
import { PostgresUsageLog } from "./postgres-usage-log.ts";

const MIGRATIONS = fileURLToPath(new URL("../../../migrations", import.meta.url));
const TOKEN = randomUUID();
const OTHER = randomUUID();

let test: TestDatabase;
let calls: PostgresDoorCalls;
let budgets: PostgresBudgetStore;

beforeAll(async () => {
  test = await createTestDatabase(MIGRATIONS);
  calls = new PostgresDoorCalls(test.database);
  budgets = new PostgresBudgetStore(test.database);
});
beforeEach(() => test.database.query("TRUNCATE budget, budget_reservation, model_call, door_call CASCADE"));
afterAll(() => test.drop());

const put = (scope: BudgetScope, subject: string, limit: bigint, kind = BudgetKind.TOKENS) =>
  budgets.put({ organization: "local", scope, subject, kind, period: BudgetPeriod.NONE }, limit);
const amounts = (tokens: bigint) => ({ tokens, money: tokens });
const state = async () => (await budgets.list("local")).map(({ scope, used, reserved }) => [scope, used, reserved]);
const rows = (by: UsageDimension) => new PostgresUsageLog(test.database).query({ organization: "local", by: [by] });

const settledCall = (tokens: bigint): SettledCall => ({
  turn: 1,
  model: "a/b",
  input: tokens,
  output: 0n,
  cacheRead: 0n,
  cacheWrite: 0n,
  reasoning: 0n,
  cost: 7n,
  inputCost: 7n,
  isEstimated: false,
  tokens,
  milliseconds: 5,
});

async function begin(least: bigint, most: bigint, callId = randomUUID()) {
  const whose = { organization: "local", principal: "user:ada", teams: ["platform"], tokenId: TOKEN };
  const call = {
    callId,
    ...whose,
    door: ModelDoor.MESSAGES,
    model: "a/b",
    delegation: "signed",
    seen: { input: 30n, output: 0n, cost: 3n },
  };
  return { callId, answer: await calls.begin(call, amounts(least), amounts(most)) };
}

describe("a call without a run", () => {
  it("counts against its token, its person, their teams and the organization, and is settled once", async () => {
    await put(BudgetScope.ORGANIZATION, "", 1_000n);
    await put(BudgetScope.TEAM, "platform", 500n);
    await put(BudgetScope.USER, "user:ada", 400n);
    await put(BudgetScope.TOKEN, TOKEN, 300n);
    await put(BudgetScope.TOKEN, OTHER, 1n);
    const { callId, answer } = await begin(10n, 350n);
    expect(answer).toMatchObject({ tokens: 300n, limitedBy: [{ scope: BudgetScope.TOKEN, subject: TOKEN }] });
    await calls.settle(callId, settledCall(90n));
    await calls.settle(callId, settledCall(90n));
    const figures = (await budgets.list("local")).map(({ scope, subject, used, reserved }) => [scope, subject === OTHER, used, reserved]);
    expect(new Set(figures.map(String))).toEqual(new Set(["1,false,90,0", "2,false,90,0", "3,false,90,0", "6,false,90,0", "6,true,0,0"]));
    expect(await rows(UsageDimension.TOKEN)).toMatchObject([{ keys: [TOKEN], calls: 1n, cost: { nanoDollars: 7n } }]);
    expect(await rows(UsageDimension.SESSION)).toMatchObject([{ keys: [""], calls: 1n }]);
  });

  it("of which nothing came costs nothing; one that a budget refuses leaves nothing behind", async () => {
    await put(BudgetScope.TOKEN, TOKEN, 100n);
    const { callId } = await begin(10n, 20n);
    await calls.settle(callId, undefined);
    const refused = await begin(101n, 200n);
    expect(isRefusal(refused.answer) && refused.answer.scope).toBe(BudgetScope.TOKEN);
    expect(await state()).toEqual([[BudgetScope.TOKEN, 0n, 0n]]);
    expect(await test.database.query("SELECT 1 FROM door_call UNION ALL SELECT 1 FROM model_call")).toEqual([]);
  });

  it("never overdraws a budget together with others that come at the same time", async () => {
    await put(BudgetScope.TOKEN, TOKEN, 100n);
    await put(BudgetScope.USER, "user:ada", 1_000n);
    const begun = await Promise.all(Array.from({ length: 30 }, () => begin(20n, 20n)));
    const held = begun.filter(({ answer }) => !isRefusal(answer));
    expect(held).toHaveLength(5);
    await Promise.all(held.map(({ callId }) => calls.settle(callId, settledCall(20n))));
    expect(await state()).toEqual([
      [BudgetScope.USER, 100n, 0n],
      [BudgetScope.TOKEN, 100n, 0n],
    ]);
  });

  it("whose process ended is settled by what was seen of it, once it is on record, and not again by a process that comes back", async () => {
    await put(BudgetScope.TOKEN, TOKEN, 100n);
    const lost = await begin(10n, 90n);
    await calls.touch(lost.callId, { input: 30n, output: 12n, cost: 5n });
    const recorded: unknown[] = [];
    let refusal: Error | undefined = new HlvmError({ code: "unavailable", reason: "away", message: "Policy is away." });
    const recordModelCall = async (called: CalledModel) => {
      if (refusal !== undefined) throw refusal;
      recorded.push(called);
    };
    const sweep = () => settleLostCalls({ calls, auditFor: () => ({ recordModelCall }), log: testLog });
    const lapse = () => test.database.query("UPDATE door_call SET until = now() - interval '1 second'");
    await sweep();
    await lapse();
    await expect(sweep()).rejects.toThrow("Policy is away.");
    expect(await state()).toEqual([[BudgetScope.TOKEN, 0n, 90n]]);
    refusal = undefined;
    await sweep();
    expect(recorded).toEqual([]);
    await lapse();
    await Promise.all([sweep(), sweep()]);
    await calls.settle(lost.callId, settledCall(90n));
    expect(await state()).toEqual([[BudgetScope.TOKEN, 42n, 0n]]);
    expect(await rows(UsageDimension.MODEL)).toMatchObject([{ calls: 1n, estimatedCalls: 1n, cost: { nanoDollars: 5n } }]);
    expect(recorded).toMatchObject([
      { callId: lost.callId, status: OutcomeStatus.UNKNOWN, usage: { outputTokens: 12n }, isEstimated: true },
    ]);
  });
});
