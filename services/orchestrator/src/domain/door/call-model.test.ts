import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Delegation } from "@hlvm/identity/delegation";
import { OutcomeStatus } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { FinishSchema, GenerateRequestSchema, ModelSchema, UsageSchema } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { ModelDoor } from "@hlvm/proto/hlvm/session/v1/model_call_pb";
import { testLog } from "@hlvm/testing/test-log";
import type { SettledCall } from "../budget/budget-store.ts";
import type { ModelEvent } from "../loop/ports.ts";
import { callModel, type DoorEvent, type DoorPorts } from "./call-model.ts";
import type { CalledModel } from "./door-models.ts";

const HELD = { tokens: 10_000n, money: 10_000n, milliseconds: 10_000n, limitedBy: [] };
const ANSWER: readonly ModelEvent[] = [
  { case: "textDelta", value: "Hello" },
  { case: "usage", value: create(UsageSchema, { inputTokens: 3n, outputTokens: 1n }) },
  { case: "finish", value: create(FinishSchema) },
];

/** A door behind which a model answers so, and what became of each call there. */
function door(allowedModels: readonly string[], answer: readonly ModelEvent[] = ANSWER) {
  const settled: (SettledCall | undefined)[] = [];
  const recorded: CalledModel[] = [];
  const asked: string[] = [];
  const gone = new AbortController();
  const ports = {
    models: {
      resolve: async (id: string) => create(ModelSchema, { id, contextWindow: 1_000 }),
      async *generate({ model }: { readonly model: string }) {
        asked.push(model);
        yield* answer;
      },
    },
    calls: {
      begin: async () => HELD,
      settle: async (_: string, call: SettledCall | undefined) => void settled.push(call),
      touch: async () => undefined,
    },
    audit: { recordModelCall: async (called: CalledModel) => void recorded.push(called) },
    log: testLog,
    serviceMilliseconds: 100,
    limits: { outputReserveTokens: 100, compactionPercent: 80, modelMilliseconds: 10_000 },
  };
  const principal = { organization: "local", id: "user:ada", roles: ["developer"] as const };
  const delegation = { principal, runId: "call" } as unknown as Delegation;
  const caller = { delegation, access: { tokenId: "t", allowedModels }, signed: "signed", door: ModelDoor.MESSAGES, provider: "anthropic" };
  const call = (model: string, more: object = {}): AsyncGenerator<DoorEvent, void> =>
    callModel(caller, create(GenerateRequestSchema, { model }), { ...ports, ...more } as unknown as DoorPorts, gone.signal);
  return { call, gone, ports, settled, recorded, asked };
}

async function all(events: AsyncIterable<DoorEvent>): Promise<string[]> {
  const cases: string[] = [];
  for await (const event of events) cases.push(event.case);
  return cases;
}

describe("a call through a door", () => {
  it("ends when it is settled and on record; a name without a provider is one of the door's", async () => {
    const { call, settled, recorded, asked } = door(["anthropic/*"]);
    expect(await all(call("claude"))).toEqual(["started", "textDelta", "usage", "finish"]);
    expect(asked).toEqual(["anthropic/claude"]);
    expect(settled).toMatchObject([{ input: 3n, output: 1n, isEstimated: false }]);
    expect(recorded).toMatchObject([{ model: "anthropic/claude", status: OutcomeStatus.SUCCEEDED, reason: "" }]);
  });

  it("does not end well where it cannot be recorded", async () => {
    const { call, settled } = door([]);
    const away = async () => Promise.reject(new HlvmError({ code: "internal", reason: "audit_full", message: "The log is full." }));
    await expect(all(call("a/b", { audit: { recordModelCall: away } }))).rejects.toThrow("The log is full.");
    expect(settled).toHaveLength(1);
  });

  it("is refused before anybody is asked where its token is for other models", async () => {
    const { call, settled, recorded, asked } = door(["llama/*"]);
    await expect(all(call("claude"))).rejects.toMatchObject({ reason: "model_not_permitted" });
    expect([asked, settled]).toEqual([[], []]);
    expect(recorded).toMatchObject([{ status: OutcomeStatus.REFUSED, reason: "model_not_permitted", cost: 0n }]);
  });

  it("that was cut is settled by what was seen, and fails", async () => {
    const { call, settled, recorded } = door([], ANSWER.slice(0, 1));
    await expect(all(call("a/b"))).rejects.toMatchObject({ reason: "stream_cut" });
    expect(settled).toMatchObject([{ output: 2n, isEstimated: true }]);
    expect(recorded).toMatchObject([{ status: OutcomeStatus.FAILED, isEstimated: true }]);
  });

  it("whose client leaves the loop is settled, once", async () => {
    const { call, settled, recorded, gone } = door([]);
    for await (const event of call("a/b")) if (event.case === "textDelta") break;
    gone.abort();
    expect(settled).toMatchObject([{ isEstimated: true }]);
    expect(recorded).toMatchObject([{ status: OutcomeStatus.CANCELLED }]);
  });

  it("gives back what was reserved while its client went", async () => {
    const { call, gone, ports, settled, recorded, asked } = door([]);
    const begin = async () => {
      gone.abort();
      return HELD;
    };
    await expect(all(call("a/b", { calls: { ...ports.calls, begin } }))).rejects.toMatchObject({ code: "cancelled" });
    expect([asked, settled]).toEqual([[], [undefined]]);
    expect(recorded).toMatchObject([{ status: OutcomeStatus.CANCELLED }]);
  });
});
