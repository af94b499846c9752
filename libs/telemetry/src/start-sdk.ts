import { randomUUID } from "node:crypto";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { diag, DiagLogLevel, metrics, trace } from "@opentelemetry/api";
import { detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import { MeterProvider, PeriodicExportingMetricReader, type PushMetricExporter } from "@opentelemetry/sdk-metrics";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type Sampler,
  type SpanExporter,
} from "@opentelemetry/sdk-trace";
import type { Log } from "@hlvm/log/create-log";
import { gauge } from "./instrument.ts";
import type { Telemetry } from "./start-telemetry.ts";

/** Of one attempt to export; the exporters' own 10 s would keep a batch in memory for longer than it is worth. */
const EXPORT_MILLISECONDS = 5_000;
const FLUSH_MILLISECONDS = 2_000;
/** Spans that wait for the receiver, some 2 MB; what comes on top is dropped. */
const MAXIMUM_QUEUED_SPANS = 2_048;
const SPAN_INTERVAL_MILLISECONDS = 1_000;
const METRIC_INTERVAL_MILLISECONDS = 15_000;
const PARENT_BASED = "parentbased_";

interface Exporters {
  readonly spans: SpanExporter;
  readonly metrics: PushMetricExporter;
}

/** The SDK, with just the parts that we use. The exporters read endpoint, headers and certificates from the environment themselves. */
export async function startSdk(service: string, log: Log, environment: NodeJS.ProcessEnv): Promise<Telemetry> {
  warnOnce(log);
  const exporters = await createExporters(environment.OTEL_EXPORTER_OTLP_PROTOCOL);
  const own = { "service.name": `hlvm-${service}`, "service.namespace": "hlvm", "service.instance.id": randomUUID() };
  const resource = detectResources({ detectors: [envDetector] }).merge(resourceFromAttributes(own));
  const tracerProvider = new TracerProvider({
    resource,
    sampler: samplerOf(environment.OTEL_TRACES_SAMPLER, environment.OTEL_TRACES_SAMPLER_ARG),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: exporters.spans,
        maxQueueSize: MAXIMUM_QUEUED_SPANS,
        scheduledDelayMillis: SPAN_INTERVAL_MILLISECONDS,
        exportTimeoutMillis: EXPORT_MILLISECONDS,
      }),
    ],
  });
  const reader = new PeriodicExportingMetricReader({
    exporter: exporters.metrics,
    exportIntervalMillis: METRIC_INTERVAL_MILLISECONDS,
    exportTimeoutMillis: EXPORT_MILLISECONDS,
  });
  const meterProvider = new MeterProvider({ resource, readers: [reader] });
  trace.setGlobalTracerProvider(tracerProvider);
  metrics.setGlobalMeterProvider(meterProvider);
  watchEventLoop();
  return {
    close: async () => {
      const flushed = Promise.allSettled([tracerProvider.shutdown(), meterProvider.shutdown()]);
      await Promise.race([flushed, sleep(FLUSH_MILLISECONDS, undefined, { ref: false })]);
    },
  };
}

/** gRPC unless the environment says HTTP; only the chosen one is loaded. */
async function createExporters(protocol: string | undefined): Promise<Exporters> {
  const options = { timeoutMillis: EXPORT_MILLISECONDS };
  if (protocol?.startsWith("http/") === true) {
    const [spans, metric] = await Promise.all([
      import("@opentelemetry/exporter-trace-otlp-proto"),
      import("@opentelemetry/exporter-metrics-otlp-proto"),
    ]);
    return { spans: new spans.OTLPTraceExporter(options), metrics: new metric.OTLPMetricExporter(options) };
  }
  const [spans, metric] = await Promise.all([
    import("@opentelemetry/exporter-trace-otlp-grpc"),
    import("@opentelemetry/exporter-metrics-otlp-grpc"),
  ]);
  return { spans: new spans.OTLPTraceExporter(options), metrics: new metric.OTLPMetricExporter(options) };
}

/** The SDK reports failed exports here and nowhere else. A receiver that is away for long would fill the log. */
function warnOnce(log: Log): void {
  let isSaid = false;
  const ignore = (): void => undefined;
  const error = (why: string): void => {
    if (isSaid) return;
    isSaid = true;
    log.warn({ why }, "traces and metrics cannot be exported, and are dropped until they can; this is said once");
  };
  diag.setLogger({ error, warn: ignore, info: ignore, debug: ignore, verbose: ignore }, DiagLogLevel.ERROR);
}

function watchEventLoop(): void {
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  gauge("hlvm.eventloop.delay", "How late timers fire, since the last export.", "s", (result) => {
    for (const quantile of [50, 99, 100]) result.observe(delay.percentile(quantile) / 1e9, { quantile: quantile / 100 });
    delay.reset();
  });
}

/**
 * The sampler that OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG name, as the specification has them; the SDK's own parts read
 * neither. What is unknown, or no ratio, is taken as the default: every trace that its caller wants recorded, or that begins here.
 */
function samplerOf(name = "parentbased_always_on", argument = "1"): Sampler {
  if (!name.startsWith(PARENT_BASED)) return rootSampler(name, argument) ?? samplerOf();
  const root = rootSampler(name.slice(PARENT_BASED.length), argument) ?? new AlwaysOnSampler();
  return new ParentBasedSampler({ root });
}

function rootSampler(name: string, argument: string): Sampler | undefined {
  if (name === "always_on") return new AlwaysOnSampler();
  if (name === "always_off") return new AlwaysOffSampler();
  const ratio = Number(argument);
  return name === "traceidratio" ? new TraceIdRatioBasedSampler(ratio >= 0 && ratio <= 1 ? ratio : 1) : undefined;
}
