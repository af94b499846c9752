import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { classifyModel, type OwnModel } from "./classify-model.ts";

const classify = (more: Partial<OwnModel>): string => {
  const { tier, capability } = classifyModel({ name: "m", contextWindow: 32_768, ...more });
  return `${tier} ${capability}`;
};

describe("classifyModel", () => {
  it.each([
    [{ parameters: 1.5e9 }, "weak chat"],
    [{ parameters: 2.99e9 }, "weak chat"],
    [{ parameters: 3e9 }, "weak tool"],
    [{ parameters: 7e9, contextWindow: 8_191 }, "weak chat"],
    [{ parameters: 7e9, contextWindow: 8_192 }, "weak tool"],
    // A large window makes no small model large.
    [{ parameters: 8e9, contextWindow: 131_072 }, "weak tool"],
    [{ parameters: 13e9 }, "mid agent"],
    [{ parameters: 70e9, contextWindow: 4_096 }, "mid chat"],
    [{ parameters: 70e9, contextWindow: 128_000 }, "frontier agent"],
    [{ parameters: 70e9, takesTools: false }, "mid chat"],
    [{}, "mid agent"],
  ])("takes %j for %s", (given, expected) => {
    expect(classify(given)).toBe(expected);
  });

  it.each([
    ["qwen2.5-coder-7b-instruct-q4_k_m.gguf", "weak tool"],
    ["llama3.2:1b", "weak chat"],
    ["meta-llama/Llama-3.3-70B-Instruct", "mid agent"],
    ["Qwen3-30B-A3B", "mid agent"],
    ["mixtral:8x7b", "mid agent"],
    ["gemma4:e4b", "weak tool"],
    ["phi-3.5-mini", "mid agent"],
    ["gpt-oss-20b", "mid agent"],
    ["smollm2-1.7B-Q8_0", "weak chat"],
    ["web2b2c", "mid agent"],
  ])("reads the size in %s", (name, expected) => {
    expect(classify({ name })).toBe(expected);
  });

  it("believes the server rather than the name, and gets along with any name", () => {
    expect(classify({ name: "tiny-1b", parameters: 30e9 })).toBe("mid agent");
    fc.assert(fc.property(fc.string({ maxLength: 400 }), (name) => /^(weak|mid) (chat|tool|agent)$/.test(classify({ name }))));
  });
});
