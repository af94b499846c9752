import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";

export interface ReceivedSpan {
  /** `service.name` of its resource. */
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the first span of a trace. */
  readonly parentId: string;
  /** 1 internal, 2 server, 3 client. */
  readonly kind: number;
  readonly startMilliseconds: number;
  readonly durationMilliseconds: number;
  readonly attributes: Readonly<Record<string, string>>;
  readonly isError: boolean;
}

export interface ReceivedMetric {
  readonly service: string;
  readonly name: string;
  readonly unit: string;
  /** The labels of each of its points. */
  readonly labels: readonly Readonly<Record<string, string>>[];
}

/** A message by the numbers of its fields: bytes as they are, numbers of any kind as bigint. */
type Fields = ReadonlyMap<number, readonly (Uint8Array | bigint)[]>;

const ERROR = 2n;
const NANOSECONDS = 1e6;

/** The spans of an `ExportTraceServiceRequest`. */
export function readSpans(bytes: Uint8Array): ReceivedSpan[] {
  return messages(read(bytes), 1).flatMap((resourceSpans) => {
    const service = serviceOf(resourceSpans);
    const spans = messages(resourceSpans, 2).flatMap((scopeSpans) => messages(scopeSpans, 2));
    return spans.map((span) => ({
      service,
      traceId: hex(span, 1),
      spanId: hex(span, 2),
      parentId: hex(span, 4),
      name: text(span, 5),
      kind: Number(number(span, 6)),
      startMilliseconds: Number(number(span, 7)) / NANOSECONDS,
      durationMilliseconds: Number(number(span, 8) - number(span, 7)) / NANOSECONDS,
      attributes: attributes(span, 9),
      isError: messages(span, 15).some((status) => number(status, 3) === ERROR),
    }));
  });
}

/** The metrics of an `ExportMetricsServiceRequest`, whatever their kind: gauge, sum or histogram. */
export function readMetrics(bytes: Uint8Array): ReceivedMetric[] {
  return messages(read(bytes), 1).flatMap((resourceMetrics) => {
    const service = serviceOf(resourceMetrics);
    const metrics = messages(resourceMetrics, 2).flatMap((scopeMetrics) => messages(scopeMetrics, 2));
    return metrics.map((metric) => {
      const numbers = [5, 7].flatMap((kind) => messages(metric, kind)).flatMap((data) => messages(data, 1));
      const histograms = messages(metric, 9).flatMap((data) => messages(data, 1));
      const labels = [...numbers.map((point) => attributes(point, 7)), ...histograms.map((point) => attributes(point, 9))];
      return { service, name: text(metric, 1), unit: text(metric, 3), labels };
    });
  });
}

function serviceOf(resource: Fields): string {
  return messages(resource, 1).map((one) => attributes(one, 1)["service.name"] ?? "")[0] ?? "";
}

function attributes(message: Fields, field: number): Record<string, string> {
  return Object.fromEntries(messages(message, field).map((pair) => [text(pair, 1), messages(pair, 2).map(anyValue).join()]));
}

function anyValue(value: Fields): string {
  const [[kind, [held]]] = [...value] as [[number, (Uint8Array | bigint)[]]];
  if (kind === 5) return messages(messages(value, 5)[0]!, 1).map(anyValue).join();
  return held instanceof Uint8Array ? Buffer.from(held).toString() : String(held);
}

function messages(message: Fields, field: number): Fields[] {
  return (message.get(field) ?? []).map((bytes) => read(bytes as Uint8Array));
}

function text(message: Fields, field: number): string {
  return Buffer.from((message.get(field)?.[0] ?? new Uint8Array()) as Uint8Array).toString();
}

function hex(message: Fields, field: number): string {
  return Buffer.from((message.get(field)?.[0] ?? new Uint8Array()) as Uint8Array).toString("hex");
}

function number(message: Fields, field: number): bigint {
  return (message.get(field)?.[0] ?? 0n) as bigint;
}

function read(bytes: Uint8Array): Fields {
  const reader = new BinaryReader(bytes);
  const fields = new Map<number, (Uint8Array | bigint)[]>();
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    fields.set(field, [...(fields.get(field) ?? []), readValue(reader, field, type)]);
  }
  return fields;
}

function readValue(reader: BinaryReader, field: number, type: WireType): Uint8Array | bigint {
  if (type === WireType.LengthDelimited) return reader.bytes();
  if (type === WireType.Varint) return BigInt(reader.uint64());
  if (type === WireType.Bit64) return BigInt(reader.fixed64());
  reader.skip(type, field);
  return 0n;
}
