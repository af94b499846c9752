/** Types of values in a GGUF file's header. */
const UINT32 = 4;
const INT32 = 5;
const FLOAT32 = 6;
const STRING = 8;
const ARRAY = 9;
const TENSOR_F32 = 0;
const VERSION = 3;
const ALIGNMENT = 32;

export type GgufValue =
  | { readonly uint32: number }
  | { readonly float32: number }
  | { readonly string: string }
  | { readonly strings: readonly string[] }
  | { readonly int32s: readonly number[] };

export interface GgufTensor {
  readonly name: string;
  /** The fastest running first. */
  readonly shape: readonly number[];
  readonly values: Float32Array;
}

/** A GGUF v3 file: what llama.cpp reads models from. */
export function encodeGguf(metadata: Readonly<Record<string, GgufValue>>, tensors: readonly GgufTensor[]): Buffer {
  const entries = Object.entries(metadata);
  const header: Buffer[] = [Buffer.from("GGUF"), uint32(VERSION), uint64(tensors.length), uint64(entries.length)];
  for (const [key, value] of entries) header.push(text(key), encodeValue(value));
  let offset = 0;
  for (const { name, shape, values } of tensors) {
    header.push(text(name), uint32(shape.length), ...shape.map(uint64), uint32(TENSOR_F32), uint64(offset));
    offset += aligned(values.byteLength);
  }
  const data = tensors.flatMap(({ values }) => [
    Buffer.from(values.buffer, values.byteOffset, values.byteLength),
    Buffer.alloc(aligned(values.byteLength) - values.byteLength),
  ]);
  const head = Buffer.concat(header);
  return Buffer.concat([head, Buffer.alloc(aligned(head.length) - head.length), ...data]);
}

function encodeValue(value: GgufValue): Buffer {
  if ("uint32" in value) return Buffer.concat([uint32(UINT32), uint32(value.uint32)]);
  if ("string" in value) return Buffer.concat([uint32(STRING), text(value.string)]);
  if ("strings" in value) return Buffer.concat([uint32(ARRAY), uint32(STRING), uint64(value.strings.length), ...value.strings.map(text)]);
  if ("int32s" in value) return Buffer.concat([uint32(ARRAY), uint32(INT32), uint64(value.int32s.length), ...value.int32s.map(uint32)]);
  const float = Buffer.alloc(4);
  float.writeFloatLE(value.float32);
  return Buffer.concat([uint32(FLOAT32), float]);
}

function uint32(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeUInt32LE(value);
  return buffer;
}

function uint64(value: number): Buffer {
  const buffer = Buffer.alloc(8);
  buffer.writeBigUInt64LE(BigInt(value));
  return buffer;
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([uint64(bytes.length), bytes]);
}

function aligned(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;
}
