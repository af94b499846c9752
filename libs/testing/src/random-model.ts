import { writeFileSync } from "node:fs";
import { encodeGguf, type GgufTensor, type GgufValue } from "./random-model-gguf.ts";

const HEADS = 4;
const CONTEXT_LENGTH = 65_536;
const SPECIAL_TOKENS = ["<|begin|>", "<|end|>", "<|im_start|>", "<|im_end|>"];
const NORMAL = 1;
const CONTROL = 3;

/** Renders tools and tool calls, since a server refuses a request with tools where the template does not. */
const CHAT_TEMPLATE = `{%- if tools %}<|im_start|>system
Tools: {{ tools | tojson }}<|im_end|>
{% endif %}{%- for message in messages %}<|im_start|>{{ message.role }}
{{ message.content or '' }}{%- if message.tool_calls %}{{ message.tool_calls | tojson }}{%- endif %}<|im_end|>
{% endfor %}{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}`;

/** How much there is to compute for a token. */
export interface RandomModelSize {
  readonly width: number;
  readonly blocks: number;
}

const SMALL: RandomModelSize = { width: 64, blocks: 2 };

/**
 * Writes a model of random weights that llama-server loads at once: a llama whose tokens are single bytes. It is up in 50 ms
 * where no size is given; a larger one takes time to read a prompt, as models do.
 * What it says means nothing; everything around it is real. The same bytes each time.
 */
export function writeRandomModel(path: string, { width, blocks }: RandomModelSize = SMALL): void {
  const tokens = [...byteTokens(), ...SPECIAL_TOKENS];
  const metadata: Record<string, GgufValue> = {
    "general.architecture": { string: "llama" },
    "general.name": { string: "random" },
    "llama.context_length": { uint32: CONTEXT_LENGTH },
    "llama.embedding_length": { uint32: width },
    "llama.block_count": { uint32: blocks },
    "llama.feed_forward_length": { uint32: 2 * width },
    "llama.attention.head_count": { uint32: HEADS },
    "llama.attention.head_count_kv": { uint32: HEADS },
    "llama.attention.layer_norm_rms_epsilon": { float32: 1e-5 },
    "llama.rope.dimension_count": { uint32: width / HEADS },
    "llama.vocab_size": { uint32: tokens.length },
    "tokenizer.ggml.model": { string: "gpt2" },
    "tokenizer.ggml.pre": { string: "default" },
    "tokenizer.ggml.tokens": { strings: tokens },
    "tokenizer.ggml.token_type": { int32s: tokens.map((_token, index) => (index < 256 ? NORMAL : CONTROL)) },
    "tokenizer.ggml.merges": { strings: [] },
    "tokenizer.ggml.bos_token_id": { uint32: 256 },
    "tokenizer.ggml.eos_token_id": { uint32: 259 },
    "tokenizer.chat_template": { string: CHAT_TEMPLATE },
  };
  writeFileSync(path, encodeGguf(metadata, tensors(tokens.length, { width, blocks })));
}

function tensors(vocabulary: number, { width, blocks }: RandomModelSize): GgufTensor[] {
  const feedForward = 2 * width;
  const random = randomNumbers(1);
  const weights = (name: string, ...shape: number[]): GgufTensor => {
    const count = shape.reduce((product, size) => product * size, 1);
    return { name, shape, values: Float32Array.from({ length: count }, () => (random() - 0.5) * 0.5) };
  };
  const norm = (name: string): GgufTensor => ({ name, shape: [width], values: new Float32Array(width).fill(1) });
  const block = (index: number): GgufTensor[] => [
    norm(`blk.${index}.attn_norm.weight`),
    ...["q", "k", "v", "output"].map((part) => weights(`blk.${index}.attn_${part}.weight`, width, width)),
    norm(`blk.${index}.ffn_norm.weight`),
    weights(`blk.${index}.ffn_gate.weight`, width, feedForward),
    weights(`blk.${index}.ffn_up.weight`, width, feedForward),
    weights(`blk.${index}.ffn_down.weight`, feedForward, width),
  ];
  return [
    weights("token_embd.weight", width, vocabulary),
    norm("output_norm.weight"),
    weights("output.weight", width, vocabulary),
    ...Array.from({ length: blocks }, (_empty, index) => block(index)).flat(),
  ];
}

/** One printable character for every byte, as GPT-2's tokenizer names them. */
function byteTokens(): string[] {
  const isPrintable = (byte: number): boolean => (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
  let next = 256;
  return Array.from({ length: 256 }, (_empty, byte) => String.fromCodePoint(isPrintable(byte) ? byte : next++));
}

/** mulberry32: enough for weights that mean nothing. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
