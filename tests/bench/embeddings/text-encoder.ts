import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { MAXIMUM_PIECES, sentenceEncoder } from "./sentence-encoder.ts";
import { WordPieces } from "./word-pieces.ts";

type Data = Float32Array | BigInt64Array;

/** What is used of onnxruntime-node, which is not there to import before it is installed. */
interface OnnxRuntime {
  readonly InferenceSession: { create(model: Uint8Array, options: object): Promise<Session> };
  readonly Tensor: new (type: "float32" | "int64", data: Data, shape: readonly number[]) => object;
}

interface Session {
  readonly outputNames: readonly string[];
  run(inputs: Readonly<Record<string, object>>): Promise<Readonly<Record<string, { readonly data: Float32Array }>>>;
}

export interface Encoder {
  /** A text's pieces, as many of them as are read. */
  readonly piecesOf: (text: string) => readonly number[];
  /** A vector of length 1 for each text, none of which may be empty. */
  readonly encode: (texts: readonly (readonly number[])[]) => Promise<Float32Array[]>;
}

const UNSEEN = -1e9;

/** @param modules the node_modules that the weights and ONNX Runtime were installed into */
export async function openTextEncoder(modules: string): Promise<Encoder> {
  const folder = join(modules, "@energetic-ai", "model-embeddings-en", "dist");
  const { InferenceSession, Tensor } = createRequire(join(modules, "any.js"))("onnxruntime-node") as OnnxRuntime;
  const wordPieces = new WordPieces(JSON.parse(readFileSync(join(folder, "vocab.json"), "utf8")) as [string, number][]);
  // A second thread makes nothing faster that is as small as this.
  const session = await InferenceSession.create(sentenceEncoder(folder), { intraOpNumThreads: 1, interOpNumThreads: 1 });

  const encode = async (texts: readonly (readonly number[])[]): Promise<Float32Array[]> => {
    const all = texts.flat();
    const count = all.length;
    const positions = new Float32Array(count);
    const apart = new Float32Array(count * count).fill(UNSEEN);
    const mean = new Float32Array(texts.length * count);
    let begin = 0;
    for (const [row, { length }] of texts.entries()) {
      const end = begin + length;
      for (let at = begin; at < end; at++) {
        positions[at] = at - begin;
        apart.fill(0, at * count + begin, at * count + end);
      }
      mean.fill(1 / length, row * count + begin, row * count + end);
      begin = end;
    }
    const outputs = await session.run({
      pieces: new Tensor("int64", BigInt64Array.from(all, BigInt), [count]),
      positions: new Tensor("float32", positions, [count, 1]),
      apart: new Tensor("float32", apart, [count, count]),
      mean: new Tensor("float32", mean, [texts.length, count]),
    });
    const { data } = outputs[session.outputNames[0]!]!;
    const dimensions = data.length / texts.length;
    return texts.map((_, row) => data.slice(row * dimensions, (row + 1) * dimensions));
  };
  return { piecesOf: (text) => wordPieces.idsOf(text).slice(0, MAXIMUM_PIECES), encode };
}
