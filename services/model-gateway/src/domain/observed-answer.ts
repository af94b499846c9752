import { SpanKind, type Span } from "@opentelemetry/api";
import { genAi, genAiMetric, genAiOperation } from "@hlvm/telemetry/gen-ai-names";
import { counter, durationHistogram } from "@hlvm/telemetry/instrument";
import { errorType, failSpan, startSpan } from "@hlvm/telemetry/span";
import type { AnswerEvent, Usage } from "./generation.ts";

const duration = durationHistogram(genAiMetric.operationDuration, "How long answers of models take, every attempt included.");
const timeToFirstChunk = durationHistogram(genAiMetric.timeToFirstChunk, "How long it takes until the first piece of an answer.");
const tokens = counter(genAiMetric.tokenUsage, "Tokens used.", "{token}");

type Labels = Readonly<Record<string, string>>;
type ServedBy = Extract<AnswerEvent, { kind: "served-by" }>;

export interface ObservedModel {
  readonly provider: string;
  /** The name within the provider. */
  readonly model: string;
}

/**
 * One answer of a model, which is a span, too, and in the metrics of models; nothing of what it says. It is no generator, since that
 * makes three promises of each delta.
 */
export class ObservedAnswer implements AsyncIterableIterator<AnswerEvent, unknown> {
  readonly #events: AsyncIterator<AnswerEvent>;
  readonly #onServedBy: (another: ServedBy) => void;
  readonly #called: Labels;
  readonly #span: Span;
  readonly #startedAt = performance.now();
  #labels: Labels;
  #isFirst = true;
  #isOver = false;

  constructor(
    { provider, model }: ObservedModel,
    events: AsyncIterable<AnswerEvent>,
    onServedBy: (another: ServedBy) => void = () => undefined,
  ) {
    this.#events = events[Symbol.asyncIterator]();
    this.#onServedBy = onServedBy;
    this.#called = { [genAi.operationName]: genAiOperation.chat, [genAi.providerName]: provider };
    this.#labels = { ...this.#called, [genAi.requestModel]: model };
    this.#span = startSpan(`${genAiOperation.chat} ${model}`, { kind: SpanKind.CLIENT, attributes: this.#labels });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<AnswerEvent, unknown>> {
    return this.#events.next().then(this.#take, this.#fail);
  }

  async return(): Promise<IteratorResult<AnswerEvent, unknown>> {
    try {
      await this.#events.return?.();
    } finally {
      this.#end();
    }
    return { done: true, value: undefined };
  }

  readonly #take = (result: IteratorResult<AnswerEvent, unknown>): IteratorResult<AnswerEvent, unknown> => {
    if (result.done) this.#end();
    else this.#note(result.value);
    return result;
  };

  readonly #fail = (thrown: unknown): never => {
    failSpan(this.#span, errorType(thrown));
    // A name that no provider answers to may be anything: it is no label.
    this.#labels = { ...this.#called, "error.type": errorType(thrown) };
    this.#end();
    throw thrown;
  };

  #note(delta: AnswerEvent): void {
    if (delta.kind === "served-by") this.#servedBy(delta);
    else if (this.#isFirst && delta.kind !== "alive") {
      this.#isFirst = false;
      timeToFirstChunk(performance.now() - this.#startedAt, this.#labels);
    }
    if (delta.kind === "usage") noteUsage(delta, this.#span, this.#labels);
    if (delta.kind === "finish") this.#span.setAttribute(genAi.responseFinishReasons, [delta.reason]);
  }

  #servedBy(another: ServedBy): void {
    this.#onServedBy(another);
    this.#labels = {
      [genAi.operationName]: genAiOperation.chat,
      [genAi.providerName]: another.model.provider,
      [genAi.requestModel]: another.model.name,
    };
    this.#span.setAttributes({ [genAi.responseModel]: another.model.name });
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#span.end();
    duration(performance.now() - this.#startedAt, this.#labels);
  }
}

function noteUsage(usage: Usage, span: Span, labels: Labels): void {
  const input = usage.input + usage.cacheRead + usage.cacheWrite;
  span.setAttributes({ [genAi.inputTokens]: input, [genAi.outputTokens]: usage.output, [genAi.cacheReadTokens]: usage.cacheRead });
  tokens(input, { ...labels, [genAi.tokenType]: "input" });
  tokens(usage.output, { ...labels, [genAi.tokenType]: "output" });
}
