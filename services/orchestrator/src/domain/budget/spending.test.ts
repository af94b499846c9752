import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { ModelSchema, UsageSchema } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { BudgetKind, BudgetScope, BudgetSchema } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import type { BudgetStore } from "./budget-store.ts";
import { Spending } from "./spending.ts";

const { signal } = new AbortController();
const model = create(ModelSchema, { id: "a/b" });
const lease = { sessionId: "s", runId: "r", owner: "o" };
const budget = (kind: BudgetKind, limit: bigint) => create(BudgetSchema, { scope: BudgetScope.USER, subject: "user:ada", kind, limit });

function spending(isLimited: boolean, answer: Awaited<ReturnType<BudgetStore["reserve"]>>) {
  const asked: unknown[] = [];
  const reserve = async (...given: unknown[]) => {
    asked.push(given);
    return answer;
  };
  const options = { budgets: { reserve }, isLimited: () => isLimited, lease, teams: [], model, serviceMilliseconds: 1_000 };
  return { asked, of: new Spending(options) };
}

describe("a model call", () => {
  it("of a run that nothing limits asks nobody, and may write what was wished for", async () => {
    const { asked, of } = spending(false, budget(BudgetKind.TOKENS, 0n));
    const call = await of.begin(1_000, 16_384, signal);
    call.see({ case: "textDelta", value: "x".repeat(1_000_000) } as never);
    expect(call.outputTokens).toBe(16_384);
    expect(asked).toEqual([]);
  });

  it("may write what its budgets have left beside the input", async () => {
    const limitedBy = [budget(BudgetKind.TOKENS, 1_500n)];
    const { of } = spending(true, { tokens: 1_500n, money: 2n ** 62n, milliseconds: 2n ** 62n, limitedBy });
    const call = await of.begin(1_000, 16_384, signal);
    expect(call.outputTokens).toBe(500);
    call.see({ case: "textDelta", value: "x".repeat(2_000) } as never);
    expect(() => call.see({ case: "textDelta", value: "x" } as never)).toThrow("in the middle of an answer");
    expect(call.signal.aborted).toBe(true);
  });

  it("is charged by what the provider counted, else by what was seen of it, and not where nothing came of it", async () => {
    const { of } = spending(false, budget(BudgetKind.TOKENS, 0n));
    const [counted, cut, failed] = [await of.begin(7, 9, signal), await of.begin(7, 9, signal), await of.begin(7, 9, signal)];
    cut.see({ case: "textDelta", value: "12345678" } as never);
    counted.see({ case: "textDelta", value: "12345678" } as never);
    counted.see({ case: "usage", value: create(UsageSchema, { inputTokens: 5n, outputTokens: 1n }) });
    expect(counted.settle(1)).toMatchObject({ input: 5n, output: 1n, tokens: 6n, isEstimated: false });
    expect(cut.settle(1)).toMatchObject({ input: 7n, output: 2n, isEstimated: true });
    expect([failed.settle(1), counted.settle(1)]).toEqual([undefined, undefined]);
  });
});
