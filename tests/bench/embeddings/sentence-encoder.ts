import { readFileSync } from "node:fs";
import { join } from "node:path";
import { OnnxModel, type Weight } from "./onnx-model.ts";

export const MODEL = "universal-sentence-encoder-lite";
export const DIMENSIONS = 512;
/** What comes after that many pieces of a text, the encoder does not read. */
export const MAXIMUM_PIECES = 128;

const HEADS = 4;
const EPSILON = 1e-6;
const WEIGHT = /^module(?:_apply_default)?\/(?:Encoder_en\/)?/;

interface Manifest {
  readonly weightsManifest: readonly {
    readonly paths: readonly string[];
    readonly weights: readonly { readonly name: string; readonly shape: readonly number[]; readonly dtype: string }[];
  }[];
}

/**
 * Google's Universal Sentence Encoder (lite), from the weights that npm has for TensorFlow.js, as a model for ONNX Runtime.
 * All texts of a batch are one row of pieces, so that none is filled up to another's length: `apart` keeps them from seeing each other,
 * `mean` holds 1 / n where one of a text's n pieces is.
 */
export function sentenceEncoder(folder: string): Uint8Array {
  const model = new OnnxModel();
  const weights = readWeights(folder);
  const named = (name: string): string => model.weight(weights(name));
  const one = (operator: string, inputs: readonly string[], attributes = {}): string => model.apply(operator, inputs, attributes)[0]!;
  const dense = (x: string, kernel: string, bias: string): string => one("Add", [one("MatMul", [x, kernel]), bias]);
  const normed = (x: string, at: string): string => {
    const [scale, bias] = ["scale", "bias"].map((what) =>
      named(`${at}layer_prepostprocess/layer_norm/layer_norm_${what}/ConcatPartitions/concat`),
    );
    return one("LayerNormalization", [x, scale!, bias!], { axis: -1, epsilon: EPSILON });
  };

  const pieces = model.input("pieces", "integer", ["pieces"]);
  const positions = model.input("positions", "float", ["pieces", 1]);
  const apart = model.input("apart", "float", ["pieces", "pieces"]);
  const mean = model.input("mean", "float", ["texts", "pieces"]);

  const attention = (x: string, at: string): string => {
    const matrix = (name: string): Weight => {
      const { shape, values } = weights(`${at}MultiheadAttention/${name}_transform_single/kernel/part_0`);
      return { shape: shape.slice(2), values };
    };
    const bias = (name: string): string => named(`${at}MultiheadAttention/${name}_transform_single/bias/ConcatPartitions/concat`);
    const size = matrix("output").shape[0]!;
    const all = dense(x, model.weight(matrix("qkv")), bias("qkv"));
    const [q, k, v] = model.apply("Split", [all, model.integers(size, size, size)], { axis: -1 }, 3).map((part, index) => {
      const heads = one("Reshape", [part, model.integers(-1, HEADS, size / HEADS)]);
      return one("Transpose", [heads], { perm: index === 1 ? [1, 2, 0] : [1, 0, 2] });
    });
    const scaled = one("Mul", [q!, model.number(Math.sqrt(HEADS / size))]);
    const seen = one("Softmax", [one("Add", [one("MatMul", [scaled, k!]), apart])], { axis: -1 });
    const joined = one("Transpose", [one("MatMul", [seen, v!])], { perm: [1, 0, 2] });
    return dense(one("Reshape", [joined, model.integers(-1, size)]), model.weight(matrix("output")), bias("output"));
  };
  const layer = (x: string, residual: string, number: number): string => {
    const at = `KonaTransformer/Encode/Layer_${number}/TransformerLayer/`;
    const attended = one("Add", [attention(normed(x, at), at), residual]);
    const kernel = (name: string): string =>
      named(`KonaTransformer/Encode/TransformerStack/Layer_${number}/TransformerLayer/FFN/${name}/Tensordot/Reshape_1`);
    const bias = (name: string): string => named(`${at}FFN/${name}/bias/ConcatPartitions/concat`);
    const wide = one("Relu", [dense(normed(attended, `${at}FFN/`), kernel("conv1"), bias("conv1"))]);
    return one("Add", [dense(wide, kernel("conv2"), bias("conv2")), attended]);
  };

  const looked = one("Gather", [named("Embeddings_en"), pieces]);
  const angles = one("MatMul", [
    positions,
    named("KonaTransformer/Encode/TransformerStack/Layer_0/AddTimingSignal/TimingSignal/ExpandDims_1"),
  ]);
  const timing = one("Concat", [one("Sin", [angles]), one("Cos", [angles])], { axis: 1 });
  // Its training doubled them, by a residual around the timing.
  const placed = one("Add", [one("Add", [looked, looked]), timing]);
  const widened = dense(
    placed,
    named("KonaTransformer/Encode/Layer_0/TransformerLayer/dense/kernel/ConcatPartitions/concat"),
    named("KonaTransformer/Encode/Layer_0/TransformerLayer/dense/bias/ConcatPartitions/concat"),
  );
  const first = layer(placed, widened, 0);
  const sentence = one("MatMul", [mean, layer(first, first, 1)]);
  const hidden = one("Tanh", [dense(sentence, named("hidden_layers/tanh_layer_0/weights"), named("hidden_layers/tanh_layer_0/bias"))]);
  model.output(one("LpNormalization", [hidden], { axis: -1, p: 2 }), ["texts", DIMENSIONS]);
  return model.finish();
}

function readWeights(folder: string): (name: string) => Weight {
  const { weightsManifest } = JSON.parse(readFileSync(join(folder, "model.json"), "utf8")) as Manifest;
  const byName = new Map<string, Weight>();
  for (const { paths, weights } of weightsManifest) {
    const { buffer } = new Uint8Array(Buffer.concat(paths.map((path) => readFileSync(join(folder, path)))));
    let offset = 0;
    for (const { name, shape, dtype } of weights) {
      const count = shape.reduce((product, size) => product * size, 1);
      if (dtype === "float32") byName.set(name.replace(WEIGHT, ""), { shape, values: new Float32Array(buffer, offset, count) });
      offset += count * Float32Array.BYTES_PER_ELEMENT;
    }
  }
  return (name) => {
    const found = byName.get(name);
    if (found === undefined) throw new Error(`model.json in ${folder} has no weight ${name}: it is another model than this program knows`);
    return found;
  };
}
