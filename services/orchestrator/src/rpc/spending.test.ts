import { randomUUID } from "node:crypto";
import { Code, ConnectError } from "@connectrpc/connect";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { beforeEach, describe, expect, it } from "vitest";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Principal, Role } from "@hlvm/identity/principal";
import { BudgetKind, BudgetPeriod, BudgetScope, UsageDimension } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import { ada } from "../testing/test-orchestrator.ts";
import { useTestOrchestrator } from "../testing/use-test-orchestrator.ts";

const test = useTestOrchestrator();
const { DAY, MODEL, SESSION, TOOL, USER } = UsageDimension;

const person = (name: string, ...roles: Role[]): Principal => ({ organization: "local", id: `user:${name}`, roles });
const admin = person("root", "admin");
const bob = person("bob", "developer");
const changes: [string, boolean][] = [];

beforeEach(async () => {
  changes.length = 0;
  test.fake.behaviour.recordBudgetChange = (json, own) => void changes.push([json, own]);
  await test.database.query("DELETE FROM budget");
});

const key = { scope: BudgetScope.USER, subject: "user:ada", kind: BudgetKind.MONEY, period: BudgetPeriod.DAY };
const list = async (as: Principal) => (await test.orchestrator.spending.listBudgets({}, await test.orchestrator.as(as))).budgets;
const usage = async (as: Principal, by: UsageDimension[], since?: Date) =>
  test.orchestrator.spending.queryUsage({ by, since: since && timestampFromDate(since) }, await test.orchestrator.as(as));
const error = async (call: Promise<unknown>): Promise<ConnectError> =>
  call.then(
    () => expect.unreachable("it should have failed"),
    (cause: unknown) => ConnectError.from(cause),
  );

describe("a budget", () => {
  it("is set, raised without forgetting what was used, and removed; each change is recorded before it counts", async () => {
    expect(await test.putBudget({ ...key, limit: 5_000_000_000n }, admin)).toMatchObject({
      existed: false,
      budget: { limit: 5_000_000_000n, used: 0n },
    });
    await test.database.query("UPDATE budget SET used = 7");
    expect(await test.putBudget({ ...key, limit: 9n }, admin)).toMatchObject({ existed: true, budget: { limit: 9n, used: 7n } });
    expect(await test.putBudget(key, admin)).toMatchObject({ existed: true });
    expect(await test.putBudget(key, admin)).toMatchObject({ existed: false });
    expect(await list(admin)).toEqual([]);
    expect(changes.map(([json, own]) => [JSON.parse(json).limit, own])).toEqual([
      ["5000000000", false],
      ["9", false],
      ["removed", false],
      ["removed", false],
    ]);
    expect(JSON.parse(changes[0]![0])).toEqual({ scope: "user", subject: "user:ada", kind: "money", period: "day", limit: "5000000000" });
  });

  it("does not change where it cannot be recorded, or policy says that the person may not", async () => {
    test.fake.behaviour.recordBudgetChange = () => {
      throw new HlvmError({ code: "permission_denied", reason: "role_missing", message: "user:bob may not set budgets." });
    };
    expect(await error(test.putBudget({ ...key, limit: 1n }, bob))).toMatchObject({ code: Code.PermissionDenied });
    expect(await list(admin)).toEqual([]);
  });

  it("of a session is set by who may run there, and by nobody else; it goes with the session", async () => {
    test.answers(["Done."]);
    const { sessionId } = await test.run();
    const ofSession = { scope: BudgetScope.SESSION, subject: sessionId, kind: BudgetKind.TURNS, period: BudgetPeriod.NONE, limit: 3n };
    expect(await error(test.putBudget(ofSession, bob))).toMatchObject({ code: Code.NotFound });
    expect(changes).toEqual([]);
    await test.putBudget(ofSession, ada);
    expect(changes).toMatchObject([[expect.stringContaining('"session"'), true]]);
    expect(await list(ada)).toHaveLength(1);
    await test.orchestrator.client.deleteSession({ sessionId }, await test.orchestrator.as(ada));
    expect(await list(admin)).toEqual([]);
  });

  it.each([
    ["a person without their kind", { ...key, subject: "ada" }],
    ["nobody", { ...key, subject: "" }],
    ["a name with what hides", { ...key, subject: "user:a\u0000b" }],
    ["an organization by name", { ...key, scope: BudgetScope.ORGANIZATION, subject: "other" }],
    ["a run", { ...key, scope: BudgetScope.RUN, subject: randomUUID() }],
    ["less than nothing", { ...key, limit: -1n }],
  ])("of %s is refused", async (_, wrong) => {
    expect(await error(test.putBudget({ limit: 1n, ...wrong }, admin))).toMatchObject({ code: Code.InvalidArgument });
    expect(changes).toEqual([]);
  });

  it("of others is seen by who may read the audit log alone", async () => {
    await test.putBudget({ ...key, limit: 1n }, admin);
    await test.putBudget({ ...key, subject: "user:bob", limit: 2n }, admin);
    await test.putBudget({ ...key, scope: BudgetScope.ORGANIZATION, subject: "", limit: 3n }, admin);
    await test.putBudget({ ...key, scope: BudgetScope.TEAM, subject: "red", limit: 4n }, admin);
    expect((await list(bob)).map(({ limit }) => limit)).toEqual([3n, 2n]);
    expect((await list(person("eve", "security-auditor"))).map(({ limit }) => limit)).toEqual([3n, 4n, 1n, 2n]);
    expect(await list({ ...admin, organization: "other" })).toEqual([]);
  });
});

describe("what was used", () => {
  const insert = (count: number, principal: string, model: string): Promise<unknown> =>
    test.database.query(
      `INSERT INTO model_call (organization, principal, session_id, run_id, turn, at, model, input_tokens, output_tokens, cache_read_tokens,
         cache_write_tokens, reasoning_tokens, cost, input_cost, is_estimated, tool_tokens)
       SELECT 'local', $2, md5((i % 500)::text)::uuid, gen_random_uuid(), 1, now() - (i % 40) * interval '1 day', $3, 1000, 50, 0, 0, 0,
         CASE WHEN $3 = 'a/unknown' THEN NULL ELSE 1100 END, CASE WHEN $3 = 'a/unknown' THEN NULL ELSE 1000 END, i % 100 = 0,
         '{"read_file": 300, "shell_exec": 200}' FROM generate_series(1, $1) AS i`,
      [count, principal, model],
    );

  beforeEach(() => test.database.query("DELETE FROM model_call"));

  it("is told by day, model, session, tool and person, each alone and together", async () => {
    await insert(80, "user:ada", "a/b");
    await insert(40, "user:bob", "a/unknown");
    const [byModel] = [(await usage(admin, [MODEL])).rows];
    expect(byModel).toMatchObject([
      {
        keys: ["a/b"],
        calls: 80n,
        usage: { inputTokens: 80_000n, outputTokens: 4_000n },
        cost: { nanoDollars: 88_000n, unpricedCalls: 0 },
      },
      { keys: ["a/unknown"], calls: 40n, cost: { nanoDollars: 0n, unpricedCalls: 40 } },
    ]);
    expect((await usage(admin, [DAY])).rows).toHaveLength(40);
    expect((await usage(admin, [USER, MODEL])).rows.map(({ keys }) => keys)).toEqual([
      ["user:ada", "a/b"],
      ["user:bob", "a/unknown"],
    ]);
    expect((await usage(admin, [SESSION])).rows).toHaveLength(80);
    expect((await usage(admin, [TOOL])).rows).toMatchObject([
      { keys: ["read_file"], calls: 120n, usage: { inputTokens: 36_000n }, cost: { nanoDollars: 24_000n, unpricedCalls: 40 } },
      { keys: ["shell_exec"], cost: { nanoDollars: 16_000n } },
    ]);
    expect((await usage(admin, [])).rows).toMatchObject([{ keys: [], calls: 120n }]);
    expect((await usage(admin, [MODEL], new Date(Date.now() - 86_400_000 / 2))).rows[0]).toMatchObject({ calls: 2n });
  });

  it("is one's own for who may not see others', and everybody's of the organization for who may", async () => {
    await insert(3, "user:ada", "a/b");
    await insert(2, "user:bob", "a/b");
    expect(await usage(bob, [USER])).toMatchObject({ rows: [{ keys: ["user:bob"], calls: 2n }], ofEverybody: false });
    expect(await usage(person("eve", "security-auditor"), [USER])).toMatchObject({ rows: [{}, {}], ofEverybody: true });
    expect(await usage({ ...admin, organization: "other" }, [USER])).toMatchObject({ rows: [] });
  });

  it("of 100,000 calls is told at once, by tool too", { timeout: 60_000 }, async () => {
    await insert(100_000, "user:ada", "a/b");
    for (const by of [[DAY, MODEL], [SESSION], [TOOL], [DAY, TOOL, USER]]) {
      const { rows } = await usage(admin, by);
      expect(rows.length).toBeGreaterThan(0);
    }
  });
});
