import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { ErrorClass, ModelErrorSchema, type CountTokensRequest, type GenerateRequest } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { CompactionCause, StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { valuesOf } from "../../testing/event-values.ts";
import { readCall } from "../../testing/read-call.ts";
import { refuse } from "../../testing/refuse.ts";
import { say } from "../../testing/say.ts";
import { useTestOrchestrator } from "../../testing/use-test-orchestrator.ts";
import { usualBehaviour } from "../../testing/usual-behaviour.ts";

const WINDOW = 32_768;
const RESERVE = 4_096;
const test = useTestOrchestrator();

type Counted = Pick<CountTokensRequest | GenerateRequest, "messages" | "tools">;

/** What a tokenizer makes of a request: a token for so many bytes, of which the estimate thinks four. */
const tokenizer =
  (bytesAToken: number) =>
  ({ messages, tools }: Counted): number =>
    Math.ceil(
      JSON.stringify([messages.map(({ parts }) => parts), tools], (key, value: unknown) => (key === "$typeName" ? undefined : value))
        .length / bytesAToken,
    );

interface Provider {
  readonly count: (request: Counted) => number;
  /** Characters of what the tool gives in each turn but the last. */
  readonly results: readonly number[];
  readonly countsAhead?: () => Promise<number | undefined> | number | undefined;
}

/** A model that makes a call in each turn, at a provider that really has its window, and counts as its tokenizer does. */
function play({ count, results, countsAhead }: Provider): { refusals: number } {
  const seen = { refusals: 0 };
  let turn = 0;
  test.fake.behaviour.model = { ...usualBehaviour.model, contextWindow: WINDOW };
  test.fake.behaviour.countTokens = countsAhead ?? count;
  test.fake.behaviour.generate = async function* (request) {
    const tokens = count(request);
    if (tokens > WINDOW - RESERVE) {
      seen.refusals++;
      return yield* refuse(overflow());
    }
    const isSummary = request.tools.length === 0;
    const answer = isSummary
      ? say("## Done: files were read.")
      : turn++ < results.length
        ? say("", [readCall(`file-${turn}`)])
        : say("Done.");
    for await (const delta of answer)
      yield delta.event?.case === "usage" ? { event: { case: "usage", value: { inputTokens: BigInt(tokens), outputTokens: 9n } } } : delta;
  };
  test.fake.behaviour.execute = async function* () {
    const content = "word ".repeat(results[turn - 1]! / 5);
    yield { event: { case: "result", value: { success: true, content, summary: "read" } } };
  };
  return seen;
}

function overflow(): ConnectError {
  return new ConnectError("the request exceeds the available context size", Code.FailedPrecondition, undefined, [
    { desc: ModelErrorSchema, value: { class: ErrorClass.CONTEXT_OVERFLOW, provider: "test", advice: "" } },
  ]);
}

describe("a context that the provider counts where its estimate leaves open what to do", () => {
  it("is not compacted where the estimate is too high", async () => {
    play({ count: tokenizer(8), results: [100, 95_000] });
    const { stopped, events } = await test.run();
    expect(stopped.reason).toBe(StopReason.COMPLETED);
    expect(valuesOf(events, "compaction")).toEqual([]);
    expect(test.fake.seen.counted.length).toBeGreaterThan(0);
    expect(test.fake.seen.requests.at(-1)!.messages).toEqual(test.fake.seen.counted.at(-1)!.messages);
  });

  it("is compacted before it overflows where the estimate is too low, and later estimates know better", async () => {
    const seen = play({ count: tokenizer(2.2), results: [9_300, 9_300, 9_300, 9_300, 100, 100] });
    const { stopped, events } = await test.run();
    expect(stopped).toMatchObject({ reason: StopReason.COMPLETED, text: "Done." });
    expect(seen.refusals).toBe(0);
    const [compaction] = valuesOf(events, "compaction");
    expect(compaction).toMatchObject({ cause: CompactionCause.THRESHOLD });
    expect(compaction!.tokensBefore).toBe(test.fake.seen.counted.map(tokenizer(2.2)).find((tokens) => tokens >= 21_504));
  });

  it("is not given up as too large where the provider counts that it fits", async () => {
    play({ count: tokenizer(8), results: [] });
    const { stopped } = await test.run("word ".repeat(25_000));
    expect(stopped).toMatchObject({ reason: StopReason.COMPLETED, text: "Done." });
  });

  it("is given up with the provider's count where it counts that it does not fit", async () => {
    play({ count: tokenizer(3), results: [] });
    const { stopped } = await test.run("word ".repeat(25_000));
    expect(stopped.reason).toBe(StopReason.CONTEXT_EXHAUSTED);
    expect(stopped.message).toContain(`about ${tokenizer(3)(test.fake.seen.counted.at(-1)!)} tokens`);
    expect(test.fake.seen.requests).toHaveLength(0);
  });

  it("costs no count in usual turns", async () => {
    play({ count: tokenizer(4), results: Array<number>(10).fill(1_000) });
    const { stopped } = await test.run();
    expect(stopped.turns).toBe(11);
    expect(test.fake.seen.counted).toEqual([]);
  });

  it.each([
    ["does not count ahead", () => undefined],
    ["fails to count", () => Promise.reject(new ConnectError("slow down", Code.ResourceExhausted))],
    ["does not answer within two seconds", () => new Promise<undefined>(() => undefined)],
  ])("is estimated where its provider %s, which is not asked again", async (_, countsAhead) => {
    play({ count: tokenizer(4), results: [85_000, 15_000, 15_000], countsAhead });
    const { stopped, events } = await test.run();
    expect(stopped.reason).toBe(StopReason.COMPLETED);
    expect(valuesOf(events, "compaction").length).toBeGreaterThan(0);
    expect(test.fake.seen.counted).toHaveLength(1);
  });
});
