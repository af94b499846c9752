import { context, isSpanContextValid, SpanStatusCode, trace, type Context, type Span, type SpanOptions } from "@opentelemetry/api";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { newSpanContext } from "./trace-context.ts";

const tracer = trace.getTracer("hlvm");

/** A span that has a trace id even where nothing is recorded. Attributes name things; they never hold what people or models wrote. */
export function startSpan(name: string, options: SpanOptions, parent: Context = context.active()): Span {
  const span = tracer.startSpan(name, options, parent);
  return isSpanContextValid(span.spanContext()) ? span : trace.wrapSpanContext(newSpanContext());
}

/** Does work as a span of its own. What it throws marks the span with the kind of error, never with its message. */
export async function inSpan<T>(name: string, options: SpanOptions, work: (span: Span) => Promise<T>, parent?: Context): Promise<T> {
  const span = startSpan(name, options, parent);
  try {
    return await context.with(trace.setSpan(parent ?? context.active(), span), work, undefined, span);
  } catch (thrown) {
    failSpan(span, errorType(thrown));
    throw thrown;
  } finally {
    span.end();
  }
}

/** @param type from a bounded set */
export function failSpan(span: Span, type: string): void {
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttribute("error.type", type);
}

/** A label for an error: its reason where it is one of ours, else its class. */
export function errorType(thrown: unknown): string {
  if (thrown instanceof HlvmError) return thrown.reason;
  return thrown instanceof Error ? thrown.name : "unknown";
}
