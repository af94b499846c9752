import { fork } from "node:child_process";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { startOtlpHttpReceiver, startOtlpReceiver, type OtlpReceiver } from "@hlvm/testing/otlp-receiver";

const PROGRAM = fileURLToPath(new URL("testing/traced-process.ts", import.meta.url));

interface Told {
  readonly slowestMilliseconds: number;
  readonly heapGrowth: number;
  readonly closeMilliseconds: number;
}

/** What a process tells that makes so many spans, and its log. */
async function trace(
  count: number,
  environment: Record<string, string>,
  untilLine?: RegExp,
): Promise<Told & { readonly log: Record<string, unknown>[] }> {
  const child = fork(PROGRAM, [String(count), untilLine === undefined ? "" : "until it is told to end"], {
    env: { PATH: process.env.PATH!, ...environment },
    execArgv: ["--expose-gc"],
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  let written = "";
  child.stdout!.setEncoding("utf8").on("data", (text: string) => {
    written += text;
    if (untilLine?.test(written) === true && child.connected) child.send("end");
  });
  const ended = once(child.stdout!, "end");
  const [told] = (await once(child, "message")) as [Told];
  await ended;
  const log = written
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { ...told, log };
}

function closing(receiver: OtlpReceiver): OtlpReceiver {
  onTestFinished(() => receiver.close());
  return receiver;
}

describe("startTelemetry", () => {
  it.each([
    ["gRPC", startOtlpReceiver, {}],
    ["HTTP", startOtlpHttpReceiver, { OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf" }],
  ])("sends all spans and metrics over %s before it has closed, under our name and the person's attributes", async (_, start, protocol) => {
    const receiver = closing(await start());
    const resource = { OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=harbour,service.name=mine" };
    await trace(3, { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, ...resource, ...protocol });
    const spans = receiver.spans();
    expect(spans.map(({ name }) => name).toSorted()).toEqual(["inner", "inner", "inner", "last", "outer", "outer", "outer"]);
    expect(new Set(spans.map(({ service }) => service))).toEqual(new Set(["hlvm-traced"]));
    expect(receiver.bytes().includes("harbour")).toBe(true);
    for (const inner of spans.filter(({ name }) => name === "inner"))
      expect(spans.find(({ spanId }) => spanId === inner.parentId)).toMatchObject({ name: "outer", kind: 2, traceId: inner.traceId });
    expect(receiver.metrics().map(({ name }) => name)).toEqual(expect.arrayContaining(["test.made", "hlvm.eventloop.delay"]));
  });

  it("records the traces that OTEL_TRACES_SAMPLER says", async () => {
    const receiver = closing(await startOtlpReceiver());
    const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url };
    await trace(3, { ...endpoint, OTEL_TRACES_SAMPLER: "always_off" });
    expect(receiver.spans()).toEqual([]);
    await trace(200, { ...endpoint, OTEL_TRACES_SAMPLER: "parentbased_traceidratio", OTEL_TRACES_SAMPLER_ARG: "0.5" });
    const traces = new Set(receiver.spans().map(({ traceId }) => traceId));
    expect(traces.size).toBeGreaterThan(50);
    expect(traces.size).toBeLessThan(150);
    for (const traceId of traces) expect([1, 2]).toContain(receiver.spans().filter((span) => span.traceId === traceId).length);
  });

  it("puts the trace into log lines, also where nothing is exported", async () => {
    const { log } = await trace(0, {});
    expect(log).toEqual([
      expect.objectContaining({ trace_id: expect.stringMatching(/^[0-9a-f]{32}$/), span_id: expect.stringMatching(/^[0-9a-f]{16}$/) }),
    ]);
  });

  it.each([
    ["refuses connections", true],
    ["takes connections and says nothing", false],
  ])("neither waits for a receiver that %s nor keeps what it would have got", async (_, isClosed) => {
    const silent = createServer().listen(0, "127.0.0.1");
    await once(silent, "listening");
    onTestFinished(() => void silent.close());
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    if (isClosed) await new Promise((resolve) => silent.close(resolve));
    const told = await trace(30_000, { OTEL_EXPORTER_OTLP_ENDPOINT: url });
    expect(told.slowestMilliseconds).toBeLessThan(1_000);
    // 30,000 spans of a kilobyte and more would be twice that.
    expect(told.heapGrowth).toBeLessThan(20_000_000);
    expect(told.closeMilliseconds).toBeLessThan(2_500);
  });

  it("says once that it cannot export", { timeout: 20_000 }, async () => {
    const { log } = await trace(3_000, { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1" }, /cannot be exported/);
    expect(log.filter(({ level }) => level === "warn")).toEqual([expect.objectContaining({ why: expect.stringContaining("UNAVAILABLE") })]);
  });
});
