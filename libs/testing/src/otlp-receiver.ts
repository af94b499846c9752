import { once } from "node:events";
import { createServer, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Server, ServerCredentials, type sendUnaryData, type ServerUnaryCall } from "@grpc/grpc-js";
import { readMetrics, readSpans, type ReceivedMetric, type ReceivedSpan } from "./otlp-messages.ts";

/** A receiver of OpenTelemetry's protocol that keeps everything. */
export interface OtlpReceiver {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly url: string;
  readonly spans: () => ReceivedSpan[];
  readonly metrics: () => ReceivedMetric[];
  /** All that was sent, as it was sent. */
  readonly bytes: () => Buffer;
  readonly close: () => Promise<void>;
}

const COLLECTOR = "opentelemetry.proto.collector";
const EMPTY = Buffer.alloc(0);

/** Receives OTLP over gRPC, as exporters send it by default. */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const received = new Received();
  const server = new Server();
  const asItIs = (bytes: Buffer): Buffer => bytes;
  const method = (path: string, take: (bytes: Buffer) => void): void => {
    const [service, name] = path.split("/") as [string, string];
    const definition = {
      path: `/${path}`,
      requestStream: false,
      responseStream: false,
      requestSerialize: asItIs,
      requestDeserialize: asItIs,
      responseSerialize: asItIs,
      responseDeserialize: asItIs,
    };
    const answer = (call: ServerUnaryCall<Buffer, Buffer>, respond: sendUnaryData<Buffer>): void => {
      take(call.request);
      respond(null, EMPTY);
    };
    server.addService({ [`${service}.${name}`]: definition }, { [`${service}.${name}`]: answer });
  };
  method(`${COLLECTOR}.trace.v1.TraceService/Export`, (bytes) => received.traces.push(bytes));
  method(`${COLLECTOR}.metrics.v1.MetricsService/Export`, (bytes) => received.measurements.push(bytes));
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  return received.receiver(port, async () => server.forceShutdown());
}

/** Receives OTLP over HTTP, as exporters send it where OTEL_EXPORTER_OTLP_PROTOCOL is http/protobuf. */
export async function startOtlpHttpReceiver(): Promise<OtlpReceiver> {
  const received = new Received();
  const server: HttpServer = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const bytes = Buffer.concat(chunks);
      if (request.url === "/v1/traces") received.traces.push(bytes);
      if (request.url === "/v1/metrics") received.measurements.push(bytes);
      response.writeHead(200, { "content-type": "application/x-protobuf" }).end();
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return received.receiver((server.address() as AddressInfo).port, async () => {
    server.closeAllConnections();
    server.close();
  });
}

class Received {
  readonly traces: Buffer[] = [];
  readonly measurements: Buffer[] = [];

  receiver(port: number, close: () => Promise<void>): OtlpReceiver {
    return {
      url: `http://127.0.0.1:${port}`,
      spans: () => this.traces.flatMap(readSpans),
      metrics: () => this.measurements.flatMap(readMetrics),
      bytes: () => Buffer.concat([...this.traces, ...this.measurements]),
      close,
    };
  }
}
