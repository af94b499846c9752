import { metrics, type Attributes, type ObservableResult } from "@opentelemetry/api";

/** In seconds: from what a call inside one process takes to what a run may. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_200];

/** @param labels values from bounded sets: never a run, a session or a person */
type Record = (value: number, labels?: Attributes) => void;

/** Durations, given in milliseconds and exported in seconds. */
export function durationHistogram(name: string, description: string): Record {
  const histogram = atFirstUse(() =>
    metrics.getMeter("hlvm").createHistogram(name, { description, unit: "s", advice: { explicitBucketBoundaries: SECONDS } }),
  );
  return (milliseconds, labels) => histogram().record(milliseconds / 1_000, labels);
}

/** @param unit in braces where it is a thing that is counted, as in `{token}` */
export function counter(name: string, description: string, unit: string): Record {
  const created = atFirstUse(() => metrics.getMeter("hlvm").createCounter(name, { description, unit }));
  return (value, labels) => created().add(value, labels);
}

/** A number of things that are there at a time: what comes adds, what goes takes away. */
export function upDownCounter(name: string, description: string, unit: string): Record {
  const created = atFirstUse(() => metrics.getMeter("hlvm").createUpDownCounter(name, { description, unit }));
  return (value, labels) => created().add(value, labels);
}

/** A value that is looked up whenever metrics are exported. Call it once the service starts: before, there is nobody who asks. */
export function gauge(name: string, description: string, unit: string, read: (result: ObservableResult) => void): void {
  metrics.getMeter("hlvm").createObservableGauge(name, { description, unit }).addCallback(read);
}

/** Instruments are made at the top of modules, which are loaded before the SDK is; one made that early would record nothing. */
function atFirstUse<T>(create: () => T): () => T {
  let created: T | undefined;
  return () => (created ??= create());
}
