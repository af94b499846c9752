import { SpanKind, type Span } from "@opentelemetry/api";
import { genAi, genAiMetric, genAiOperation } from "@hlvm/telemetry/gen-ai-names";
import { counter, durationHistogram } from "@hlvm/telemetry/instrument";
import { errorType, failSpan, startSpan } from "@hlvm/telemetry/span";
import type { Told, Usage } from "./generation.ts";

const duration = durationHistogram(genAiMetric.operationDuration, "How long answers of models take, every attempt included.");
const timeToFirstChunk = durationHistogram(genAiMetric.timeToFirstChunk, "How long it takes until the first piece of an answer.");
const tokens = counter(genAiMetric.tokenUsage, "Tokens used.", "{token}");

export interface ObservedModel {
  readonly provider: string;
  /** The name within the provider. */
  readonly model: string;
}

/** One answer of a model as a span and in the metrics of models; nothing of what it says. */
export async function* observeGeneration(
  { provider, model }: ObservedModel,
  told: AsyncIterable<Told>,
  onServedBy: (another: Extract<Told, { kind: "served-by" }>) => void = () => undefined,
): AsyncGenerator<Told, void> {
  const called = { [genAi.operationName]: genAiOperation.chat, [genAi.providerName]: provider };
  let attributes: Readonly<Record<string, string>> = { ...called, [genAi.requestModel]: model };
  const span = startSpan(`${genAiOperation.chat} ${model}`, { kind: SpanKind.CLIENT, attributes });
  const startedAt = performance.now();
  let isFirst = true;
  try {
    for await (const delta of told) {
      if (delta.kind === "served-by") {
        onServedBy(delta);
        attributes = {
          [genAi.operationName]: genAiOperation.chat,
          [genAi.providerName]: delta.model.provider,
          [genAi.requestModel]: delta.model.name,
        };
        span.setAttributes({ [genAi.responseModel]: delta.model.name });
      } else if (isFirst && delta.kind !== "alive") {
        isFirst = false;
        timeToFirstChunk(performance.now() - startedAt, attributes);
      }
      if (delta.kind === "usage") noteUsage(delta, span, attributes);
      if (delta.kind === "finish") span.setAttribute(genAi.responseFinishReasons, [delta.reason]);
      yield delta;
    }
  } catch (thrown) {
    failSpan(span, errorType(thrown));
    // A name that no provider answers to may be anything: it is no label.
    attributes = { ...called, "error.type": errorType(thrown) };
    throw thrown;
  } finally {
    span.end();
    duration(performance.now() - startedAt, attributes);
  }
}

function noteUsage(usage: Usage, span: Span, labels: Readonly<Record<string, string>>): void {
  const input = usage.input + usage.cacheRead + usage.cacheWrite;
  span.setAttributes({ [genAi.inputTokens]: input, [genAi.outputTokens]: usage.output, [genAi.cacheReadTokens]: usage.cacheRead });
  tokens(input, { ...labels, [genAi.tokenType]: "input" });
  tokens(usage.output, { ...labels, [genAi.tokenType]: "output" });
}
