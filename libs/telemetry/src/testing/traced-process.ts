import { SpanKind } from "@opentelemetry/api";
import { createLog } from "@hlvm/log/create-log";
import { counter } from "../instrument.ts";
import { inSpan } from "../span.ts";
import { startTelemetry } from "../start-telemetry.ts";

// A process that makes as many spans as a test says, one after the other, and tells how it went; it may go on until it is told to end.
const count = Number(process.argv[2]);
const PADDING_BYTES = 1_000;
/** Of its own for each span: no two share the memory. */
const padding = (): string => Buffer.alloc(PADDING_BYTES, "x").toString("latin1");

const made = counter("test.made", "Spans made.", "{span}");
const log = createLog("traced", "info");
const telemetry = await startTelemetry("traced", log, process.env);
globalThis.gc?.();
const heapBefore = process.memoryUsage().heapUsed;
let slowest = 0;
for (let index = 0; index < count; index++) {
  const startedAt = performance.now();
  await inSpan("outer", { kind: SpanKind.SERVER, attributes: { padding: padding() } }, async () => {
    made(1);
    await inSpan("inner", {}, () => new Promise((resolve) => setImmediate(resolve)));
  });
  slowest = Math.max(slowest, performance.now() - startedAt);
}
await inSpan("last", {}, async () => log.info("within a span"));
globalThis.gc?.();
const heapGrowth = process.memoryUsage().heapUsed - heapBefore;
if (process.argv[3] === "until it is told to end") await new Promise((resolve) => process.once("message", resolve));
const closing = performance.now();
await telemetry.close();
const measured = { slowestMilliseconds: slowest, heapGrowth, closeMilliseconds: performance.now() - closing };
process.send!(measured, () => process.exit());
