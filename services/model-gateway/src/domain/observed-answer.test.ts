import { SpanStatusCode, trace, type Span } from "@opentelemetry/api";
import { beforeEach, expect, it } from "vitest";
import type { AnswerEvent } from "./generation.ts";
import { ObservedAnswer } from "./observed-answer.ts";

/** What became of the span of an answer. */
interface Seen {
  readonly attributes: Record<string, unknown>;
  failed: boolean;
  ends: number;
}

const spanContext = { traceId: "1".repeat(32), spanId: "1".repeat(16), traceFlags: 1 };
let seen: Seen;
const startSpan = (_name: string, options: { attributes: object } | undefined): Span => {
  Object.assign(seen.attributes, options?.attributes);
  return {
    spanContext: () => spanContext,
    setAttribute: (name: string, value: unknown) => void (seen.attributes[name] = value),
    setAttributes: (attributes: object) => void Object.assign(seen.attributes, attributes),
    setStatus: ({ code }: { code: SpanStatusCode }) => void (seen.failed = code === SpanStatusCode.ERROR),
    end: () => void seen.ends++,
  } as unknown as Span;
};
trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan }) as never });

const text: AnswerEvent = { kind: "text", text: "words" };
const usage: AnswerEvent = { kind: "usage", input: 3, output: 2, cacheRead: 4, cacheWrite: 1, reasoning: 0 };
const finish: AnswerEvent = { kind: "finish", reason: "stop", detail: "" };

async function* says(...told: readonly (AnswerEvent | Error)[]): AsyncGenerator<AnswerEvent, void> {
  for (const each of told) {
    if (each instanceof Error) throw each;
    yield each;
  }
}

async function toldOf(deltas: AsyncIterable<AnswerEvent>): Promise<AnswerEvent[]> {
  const told: AnswerEvent[] = [];
  for await (const each of new ObservedAnswer({ provider: "p", model: "m" }, deltas)) told.push(each);
  return told;
}

beforeEach(() => {
  seen = { attributes: {}, failed: false, ends: 0 };
});

it("hands on all that is told, as a span with its usage and how it ended, and without a word of it", async () => {
  expect(await toldOf(says(text, usage, finish))).toEqual([text, usage, finish]);
  expect(seen).toMatchObject({ failed: false, ends: 1 });
  expect(seen.attributes).toMatchObject({
    "gen_ai.request.model": "m",
    "gen_ai.usage.input_tokens": 8,
    "gen_ai.usage.output_tokens": 2,
    "gen_ai.response.finish_reasons": ["stop"],
  });
  expect(JSON.stringify(seen.attributes)).not.toContain("words");
});

it("hands on a failure, with its kind on the span", async () => {
  await expect(toldOf(says(text, new TypeError("of words")))).rejects.toThrow("of words");
  expect(seen).toEqual({ attributes: expect.objectContaining({ "error.type": "TypeError" }), failed: true, ends: 1 });
});

it("ends with its reader, and so does the answer", async () => {
  let isEnded = false;
  const endless = async function* (): AsyncGenerator<AnswerEvent, void> {
    try {
      for (;;) yield text;
    } finally {
      isEnded = true;
    }
  };
  for await (const _ of new ObservedAnswer({ provider: "p", model: "m" }, endless())) break;
  expect(isEnded).toBe(true);
  expect(seen).toMatchObject({ failed: false, ends: 1 });
});
