import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { BudgetKind, BudgetPeriod, BudgetScope, type Budget } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import { StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { createTestDatabase, type TestDatabase } from "@hlvm/testing/create-test-database";
import { isRefusal, type BudgetKey, type SettledCall } from "../../domain/budget/budget-store.ts";
import type { Lease } from "../../domain/log/event-log.ts";
import { eventPayload } from "../../domain/log/event-payload.ts";
import { beginTestRun } from "../../testing/begin-test-run.ts";
import { PostgresBudgetStore } from "./postgres-budget-store.ts";
import { PostgresEventLog } from "./postgres-event-log.ts";
import { PostgresRunClaims } from "./postgres-run-claims.ts";
import { PostgresSessionStore } from "./postgres-session-store.ts";

const MIGRATIONS = fileURLToPath(new URL("../../../migrations", import.meta.url));
const { TOKENS, MONEY, TURNS, TIME } = BudgetKind;
const { NONE, DAY } = BudgetPeriod;
const { ORGANIZATION, TEAM, USER, SESSION, RUN } = BudgetScope;

let test: TestDatabase;
let budgets: PostgresBudgetStore;
let log: PostgresEventLog;
let store: PostgresSessionStore;
const replica = randomUUID();

beforeAll(async () => {
  test = await createTestDatabase(MIGRATIONS);
  budgets = new PostgresBudgetStore(test.database);
  log = new PostgresEventLog(test.database, () => undefined);
  store = new PostgresSessionStore(test.database, replica, () => undefined);
  await new PostgresRunClaims(test.database, replica).renew([]);
  await test.database.query("UPDATE replica SET lease_until = 'infinity'");
});
beforeEach(() => test.database.query("DELETE FROM budget"));
afterAll(() => test.drop());

const key = (scope: BudgetScope, kind: BudgetKind, subject = "", period: BudgetPeriod = NONE): BudgetKey => ({
  organization: "local",
  scope,
  subject,
  kind,
  period,
});
const amounts = (tokens: bigint, money: bigint | undefined = tokens) => ({ tokens, money });
const call = (tokens: bigint, more: Partial<SettledCall> = {}): SettledCall => ({
  turn: 1,
  model: "a/b",
  input: tokens,
  output: 0n,
  cacheRead: 0n,
  cacheWrite: 0n,
  reasoning: 0n,
  cost: tokens,
  inputCost: tokens,
  isEstimated: false,
  tokens,
  milliseconds: 5,
  ...more,
});
const reserve = (lease: Lease, least: bigint, most = least) => budgets.reserve(lease, [], amounts(least), amounts(most));
const event = { turn: 1, payload: eventPayload("assistantMessage", { text: "a" }) };
const settle = (lease: Lease, position: number, settled: SettledCall[], stopReason?: StopReason) =>
  log.append({ lease, principal: "user:ada", position, events: [event], settled, stopReason });
const all = (): Promise<Record<string, unknown>[]> =>
  test.database.query("SELECT scope, kind, amount::int, used::int, reserved::int FROM budget ORDER BY budget_id");
const reservations = async (): Promise<number> => (await test.database.query("SELECT FROM budget_reservation")).length;

describe("reserving", () => {
  it("never overshoots with 1,000 calls at once on one budget", { timeout: 60_000 }, async () => {
    await budgets.put(key(ORGANIZATION, TOKENS), 10_050n);
    const leases: Lease[] = [];
    for (let index = 0; index < 1_000; index++) leases.push(await beginTestRun(store));
    let highest = 0n;
    const answers = await Promise.all(
      leases.map(async (lease) => {
        const answer = await reserve(lease, 100n);
        if (isRefusal(answer)) return false;
        highest = [highest, ...(await budgets.list("local")).map(({ used, reserved }) => used + reserved)].reduce((a, b) =>
          a > b ? a : b,
        );
        return true;
      }),
    );
    expect(answers.filter(Boolean)).toHaveLength(100);
    expect(highest).toBe(10_000n);
    expect(await all()).toMatchObject([{ used: 0, reserved: 10_000 }]);
    const held = leases.filter((_, index) => answers[index]);
    await Promise.all(held.map((lease) => settle(lease, 2, [call(70n)], StopReason.COMPLETED)));
    expect(await all()).toMatchObject([{ used: 7_000, reserved: 0 }]);
    expect(await reservations()).toBe(0);
  });

  it("counts in every scope that applies or in none, and names the budget that refuses", async () => {
    const lease = await beginTestRun(store);
    await budgets.put(key(ORGANIZATION, TOKENS), 1_000n);
    await budgets.put(key(TEAM, TOKENS, "red"), 700n);
    await budgets.put(key(TEAM, TOKENS, "blue"), 1n);
    await budgets.put(key(USER, TOKENS, "user:ada"), 500n);
    await budgets.put(key(USER, TOKENS, "user:bob"), 1n);
    await budgets.put(key(SESSION, TURNS, lease.sessionId), 1n, lease.sessionId);
    await budgets.put({ ...key(ORGANIZATION, TOKENS), organization: "other" }, 1n);
    const answer = await budgets.reserve(lease, ["red"], amounts(100n), amounts(600n));
    expect(answer).toMatchObject({ tokens: 500n, money: 600n });
    expect((await all()).map(({ reserved }) => reserved)).toEqual([500, 500, 0, 500, 0, 1, 0]);
    await settle(lease, 2, [call(480n)]);
    const before = await all();
    expect(before.map(({ used }) => used)).toEqual([480, 480, 0, 480, 0, 1, 0]);
    expect(await budgets.reserve(lease, ["red"], amounts(10n), amounts(10n))).toMatchObject({
      scope: SESSION,
      kind: TURNS,
      limit: 1n,
      used: 1n,
    });
    expect(await all()).toEqual(before);
  });

  it("gives what is left where that is enough, and tells the time that is left without reserving it", async () => {
    const lease = await beginTestRun(store);
    await budgets.put(key(USER, MONEY, "user:ada"), 300n);
    await budgets.put(key(USER, TIME, "user:ada"), 1_000n);
    expect(await reserve(lease, 200n, 900n)).toMatchObject({
      tokens: 900n,
      money: 300n,
      milliseconds: 1_000n,
      limitedBy: [{ kind: MONEY }, { kind: TIME }],
    });
    await settle(lease, 2, [call(50n, { milliseconds: 1_000 })]);
    expect(await reserve(lease, 1n)).toMatchObject({ kind: TIME, used: 1_000n });
  });

  it("refuses a call whose price nobody knows where money is limited, and only there", async () => {
    const lease = await beginTestRun(store);
    await budgets.put(key(ORGANIZATION, TOKENS), 100n);
    expect(isRefusal(await budgets.reserve(lease, [], amounts(1n, undefined), amounts(1n, undefined)))).toBe(false);
    await budgets.put(key(USER, MONEY, "user:ada"), 10n ** 15n);
    expect(await budgets.reserve(lease, [], { tokens: 1n, money: undefined }, { tokens: 1n, money: undefined })).toMatchObject({
      kind: MONEY,
    });
  });

  it("refuses everything on a budget of 0", async () => {
    await budgets.put(key(ORGANIZATION, TURNS), 0n);
    expect(await reserve(await beginTestRun(store), 1n)).toMatchObject({ scope: ORGANIZATION, kind: TURNS, limit: 0n });
  });

  it("begins a period anew, and what is still under way counts in the new one", async () => {
    const lease = await beginTestRun(store);
    await budgets.put(key(ORGANIZATION, TOKENS, "", DAY), 100n);
    await reserve(lease, 60n);
    await test.database.query("UPDATE budget SET used = 40, began = now() - interval '2 days'");
    expect(await budgets.list("local")).toMatchObject([{ used: 0n, reserved: 60n }]);
    await settle(lease, 2, [call(55n)]);
    expect(await budgets.list("local")).toMatchObject([{ used: 55n, reserved: 0n }]);
  });

  it("is refused to a process that has lost the run", async () => {
    const lease = await beginTestRun(store);
    await expect(reserve({ ...lease, owner: randomUUID() }, 1n)).rejects.toMatchObject({ reason: "lease_lost" });
  });

  it("does not deadlock where many runs of several people and sessions reserve, settle and end at once", { timeout: 60_000 }, async () => {
    await budgets.put(key(ORGANIZATION, TOKENS), 10n ** 9n);
    for (const kind of [TOKENS, MONEY, TURNS, TIME]) await budgets.put(key(USER, kind, "user:ada"), 10n ** 9n);
    await budgets.put(key(ORGANIZATION, MONEY), 10n ** 9n);
    const work = Array.from({ length: 40 }, async () => {
      const lease = await beginTestRun(store);
      for (let turn = 0; turn < 5; turn++) {
        await reserve(lease, 10n);
        await settle(lease, 2 + turn, [call(7n)], turn === 4 ? StopReason.COMPLETED : undefined);
      }
    });
    await Promise.all(work);
    expect((await budgets.list("local")).filter(({ kind }) => kind === TOKENS)).toMatchObject([
      { used: 1_400n, reserved: 0n },
      { used: 1_400n, reserved: 0n },
    ]);
  });
});

describe("a process that died in a call", () => {
  it("leaves nothing reserved once its run is taken over, and nothing is given back twice", async () => {
    const lease = await beginTestRun(store);
    await budgets.put(key(ORGANIZATION, TOKENS), 100n);
    await reserve(lease, 80n);
    await test.database.query("UPDATE run SET held_by = gen_random_uuid() WHERE run_id = $1", [lease.runId]);
    const claimed = (await new PostgresRunClaims(test.database, replica).claim([], 100)).find((one) => one.lease.runId === lease.runId);
    expect(await all()).toMatchObject([{ used: 0, reserved: 0 }]);
    await reserve(claimed!.lease, 90n);
    // The dead one was not dead: its append and its reservation are refused.
    await expect(settle(lease, 2, [call(80n)])).rejects.toMatchObject({ reason: "lease_lost" });
    await expect(reserve(lease, 1n)).rejects.toMatchObject({ reason: "lease_lost" });
    expect(await all()).toMatchObject([{ used: 0, reserved: 90 }]);
    await settle(claimed!.lease, 2, [call(90n)], StopReason.COMPLETED);
    expect(await all()).toMatchObject([{ used: 90, reserved: 0 }]);
  });

  it("that asks again for the same run has what it left behind given back first", async () => {
    const lease = await beginTestRun(store);
    await budgets.put(key(ORGANIZATION, TOKENS), 100n);
    for (let again = 0; again < 3; again++) expect(isRefusal(await reserve(lease, 80n))).toBe(false);
    expect(await all()).toMatchObject([{ reserved: 80 }]);
  });

  it("has a call settled once where its append is given again", async () => {
    const lease = await beginTestRun(store);
    await budgets.put(key(ORGANIZATION, TOKENS), 100n);
    await reserve(lease, 80n);
    await settle(lease, 2, [call(30n)]);
    await settle(lease, 2, [call(30n)]);
    expect(await all()).toMatchObject([{ used: 30, reserved: 0 }]);
    expect(await test.database.query("SELECT cost::int FROM model_call WHERE run_id = $1", [lease.runId])).toEqual([{ cost: 30 }]);
    expect(await store.find("local", lease.sessionId)).toMatchObject({ cost: { nanoDollars: 30n, unpricedCalls: 0 } });
  });
});

describe("a child run", () => {
  const withBudget = async (budget: { tokens?: bigint; turns?: bigint }): Promise<Lease> => {
    const lease = await beginTestRun(store);
    for (const [kind, limit] of [
      [TOKENS, budget.tokens],
      [TURNS, budget.turns],
    ] as const)
      if (limit !== undefined) await budgets.put(key(RUN, kind, lease.runId), limit, lease.sessionId);
    return lease;
  };
  const ofRun = async ({ runId }: Lease): Promise<Budget[]> =>
    test.database.query("SELECT kind, amount::int, used::int, reserved::int FROM budget WHERE subject = $1 ORDER BY kind", [
      runId,
    ]) as never;

  it("has its budget carved from its parent's, uses no more, and gives the rest back once", async () => {
    const parent = await withBudget({ tokens: 100n, turns: 10n });
    const child = await beginTestRun(store);
    await budgets.put(key(ORGANIZATION, TOKENS), 1_000n);
    expect(await budgets.carve(parent.runId, child.runId, { tokens: 60n, turns: 3n })).toBeUndefined();
    expect(await budgets.carve(parent.runId, child.runId, { tokens: 60n, turns: 3n })).toBeUndefined();
    expect(await ofRun(parent)).toMatchObject([
      { kind: TOKENS, reserved: 60 },
      { kind: TURNS, reserved: 3 },
    ]);
    expect(await reserve(child, 61n)).toMatchObject({ scope: RUN, subject: child.runId, limit: 60n });
    expect(await reserve(parent, 41n)).toMatchObject({ scope: RUN, subject: parent.runId });
    await reserve(child, 50n);
    await settle(child, 2, [call(45n)], StopReason.COMPLETED);
    expect(await ofRun(parent)).toMatchObject([
      { kind: TOKENS, used: 45, reserved: 0 },
      { kind: TURNS, used: 1, reserved: 0 },
    ]);
    expect(await ofRun(child)).toEqual([]);
    await budgets.giveBack(child.runId);
    expect(await ofRun(parent)).toMatchObject([
      { used: 45, reserved: 0 },
      { used: 1, reserved: 0 },
    ]);
    expect(await budgets.list("local")).toMatchObject([{ used: 45n, reserved: 0n }]);
  });

  it("gets all that is left where nothing is said, and nothing where its parent has too little", async () => {
    const parent = await withBudget({ tokens: 100n });
    const [first, second] = [randomUUID(), randomUUID()];
    expect(await budgets.carve(parent.runId, first, { tokens: 101n })).toMatchObject({ kind: TOKENS, limit: 100n });
    expect(await budgets.carve(parent.runId, first, {})).toBeUndefined();
    expect(await budgets.carve(parent.runId, second, { tokens: 1n })).toMatchObject({ reserved: 100n });
    expect(await budgets.carve(parent.runId, second, { tokens: -5n })).toMatchObject({ reserved: 100n });
    await budgets.giveBack(first);
    expect(await ofRun(parent)).toMatchObject([{ used: 0, reserved: 0 }]);
  });

  it("of many at once gets no more than its parent has, and the parent's end ends what is carved", async () => {
    const parent = await withBudget({ tokens: 100n });
    const answers = await Promise.all(Array.from({ length: 40 }, () => budgets.carve(parent.runId, randomUUID(), { tokens: 7n })));
    expect(answers.filter((refusedBy) => refusedBy === undefined)).toHaveLength(14);
    expect(await ofRun(parent)).toMatchObject([{ reserved: 98 }]);
    await settle(parent, 2, [], StopReason.COMPLETED);
    expect(await ofRun(parent)).toEqual([]);
    expect(await reservations()).toBe(0);
  });

  it("of a child that still runs counts as used when its own parent ends", async () => {
    const parent = await withBudget({ tokens: 100n });
    const [child, grandchild] = [await beginTestRun(store), await beginTestRun(store)];
    await budgets.carve(parent.runId, child.runId, { tokens: 50n });
    await budgets.carve(child.runId, grandchild.runId, { tokens: 20n });
    await settle(child, 2, [], StopReason.USER_CANCELLED);
    expect(await ofRun(parent)).toMatchObject([{ used: 20, reserved: 0 }]);
  });
});
