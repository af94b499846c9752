import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

export interface Weight {
  readonly shape: readonly number[];
  readonly values: Float32Array | BigInt64Array;
}

type Attribute = number | readonly number[];
type Dimension = number | string;

const IR_VERSION = 8;
const OPERATORS_VERSION = 17;
const FLOAT = 1;
const INT64 = 7;
const ATTRIBUTE_FLOAT = 1;
const ATTRIBUTE_INTEGER = 2;
const ATTRIBUTE_INTEGERS = 7;

/** Writes a model down in ONNX's own format (onnx.proto): its field numbers are what the numbers below are. */
export class OnnxModel {
  readonly #graph = new BinaryWriter();
  #names = 0;

  constructor() {
    text(this.#graph, 2, "sentence encoder");
  }

  weight({ shape, values }: Weight): string {
    const name = this.#newName();
    message(this.#graph, 5, (tensor) => {
      for (const size of shape) integer(tensor, 1, size);
      integer(tensor, 2, values instanceof Float32Array ? FLOAT : INT64);
      text(tensor, 8, name);
      tensor.tag(9, WireType.LengthDelimited).bytes(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
    });
    return name;
  }

  number(value: number): string {
    return this.weight({ shape: [], values: Float32Array.of(value) });
  }

  integers(...values: readonly number[]): string {
    return this.weight({ shape: [values.length], values: BigInt64Array.from(values, BigInt) });
  }

  /** One operation; answers the names of what comes out. */
  apply(operator: string, inputs: readonly string[], attributes: Readonly<Record<string, Attribute>> = {}, outputs = 1): string[] {
    const names = Array.from({ length: outputs }, () => this.#newName());
    message(this.#graph, 1, (node) => {
      for (const input of inputs) text(node, 1, input);
      for (const output of names) text(node, 2, output);
      text(node, 4, operator);
      for (const [name, value] of Object.entries(attributes)) message(node, 5, (attribute) => writeAttribute(attribute, name, value));
    });
    return names;
  }

  input(name: string, kind: "float" | "integer", shape: readonly Dimension[]): string {
    this.#value(11, name, kind === "float" ? FLOAT : INT64, shape);
    return name;
  }

  output(name: string, shape: readonly Dimension[]): void {
    this.#value(12, name, FLOAT, shape);
  }

  /** The file's bytes; nothing may be added after that. */
  finish(): Uint8Array {
    const model = new BinaryWriter();
    integer(model, 1, IR_VERSION);
    message(model, 8, (operators) => integer(operators, 2, OPERATORS_VERSION));
    model.tag(7, WireType.LengthDelimited).bytes(this.#graph.finish());
    return model.finish();
  }

  #newName(): string {
    return `v${this.#names++}`;
  }

  #value(field: number, name: string, type: number, shape: readonly Dimension[]): void {
    message(this.#graph, field, (value) => {
      text(value, 1, name);
      message(value, 2, (typed) =>
        message(typed, 1, (tensor) => {
          integer(tensor, 1, type);
          message(tensor, 2, (dimensions) => {
            for (const one of shape)
              message(dimensions, 1, (dimension) => (typeof one === "number" ? integer(dimension, 1, one) : text(dimension, 2, one)));
          });
        }),
      );
    });
  }
}

function writeAttribute(writer: BinaryWriter, name: string, value: Attribute): void {
  text(writer, 1, name);
  if (typeof value !== "number") {
    for (const one of value) integer(writer, 8, one);
    integer(writer, 20, ATTRIBUTE_INTEGERS);
  } else if (Number.isInteger(value)) {
    integer(writer, 3, value);
    integer(writer, 20, ATTRIBUTE_INTEGER);
  } else {
    writer.tag(2, WireType.Bit32).float(value);
    integer(writer, 20, ATTRIBUTE_FLOAT);
  }
}

function message(writer: BinaryWriter, field: number, write: (inner: BinaryWriter) => void): void {
  const inner = new BinaryWriter();
  write(inner);
  writer.tag(field, WireType.LengthDelimited).bytes(inner.finish());
}

function integer(writer: BinaryWriter, field: number, value: number): void {
  writer.tag(field, WireType.Varint).int64(value);
}

function text(writer: BinaryWriter, field: number, value: string): void {
  writer.tag(field, WireType.LengthDelimited).string(value);
}
