import { context, ROOT_CONTEXT, trace, TraceFlags, type Context, type SpanContext } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { newSpanId, newTraceId } from "./new-traceparent.ts";

const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;

let isKept = false;

/** Keeps the trace of a call through its promises, timers and streams; needs no SDK. Without it every call is a trace of its own. */
export function keepTraceContext(): void {
  if (isKept) return;
  isKept = true;
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
}

/** The context that a `traceparent` header names (W3C trace context); one without a trace where there is none, or no good one. */
export function contextOfTraceparent(traceparent: string | null | undefined): Context {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent ?? "") ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return ROOT_CONTEXT;
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

/** The header that makes what is called now part of the trace. */
export function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-0${(traceFlags & TraceFlags.SAMPLED).toString(16)}`;
}

/** 32 hex digits: of the call or run that this code belongs to. A new one outside of any. */
export function currentTraceId(): string {
  return trace.getSpanContext(context.active())?.traceId ?? newTraceId();
}

/** Where a trace begins that no SDK records: the services and the audit log name it all the same. */
export function newSpanContext(): SpanContext {
  return { traceId: newTraceId(), spanId: newSpanId(), traceFlags: TraceFlags.SAMPLED };
}

/** Does what belongs to no call, although a call is what set it off. */
export function outsideTrace<T>(work: () => T): T {
  return context.with(ROOT_CONTEXT, work);
}

/**
 * A stream whose producer runs in a context, whoever reads it: a generator's body otherwise runs in the context of whoever
 * asks for its next value. `onEnd` is called once, with what the stream threw, or without where it ended or was left.
 */
export function iterateIn<T>(within: Context, values: AsyncIterable<T>, onEnd: (thrown?: unknown) => void): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = context.with(within, () => values[Symbol.asyncIterator]());
      const step = async (next: () => Promise<IteratorResult<T>>): Promise<IteratorResult<T>> => {
        try {
          const result = await context.with(within, next);
          if (result.done === true) onEnd();
          return result;
        } catch (thrown) {
          onEnd(thrown);
          throw thrown;
        }
      };
      return {
        next: () => step(() => iterator.next()),
        return: (value?: unknown) => step(async () => (await iterator.return?.(value)) ?? { done: true, value }),
        throw: (thrown: Error) => step(() => iterator.throw?.(thrown) ?? Promise.reject(thrown)),
      };
    },
  };
}
