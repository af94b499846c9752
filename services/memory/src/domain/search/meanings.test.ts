import fastCheck from "fast-check";
import { describe, expect, it } from "vitest";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Embedder } from "./embedder.ts";
import type { AskedCorpora } from "./item-search.ts";
import { cosine, quantize } from "./quantized-vector.ts";
import { similarities } from "./similarity.ts";
import { statementOf, withQuestionVector } from "./with-question-vector.ts";

const vectors = fastCheck
  .integer({ min: 2, max: 64 })
  .chain((length) =>
    fastCheck.tuple(
      fastCheck.array(fastCheck.double({ min: -1, max: 1, noNaN: true }), { minLength: length, maxLength: length }),
      fastCheck.array(fastCheck.double({ min: -1, max: 1, noNaN: true }), { minLength: length, maxLength: length }),
    ),
  );

describe("a quantized vector", () => {
  it("is nearly as near to another one as the vector itself", () => {
    fastCheck.assert(
      fastCheck.property(vectors, ([a, b]) => {
        const sizes = [a, b].map((vector) => Math.hypot(...vector));
        fastCheck.pre(sizes.every((size) => size > 1e-6));
        const exact = a.reduce((sum, value, at) => sum + value * b[at]!, 0) / (sizes[0]! * sizes[1]!);
        expect(Math.abs(cosine(quantize(a).values, quantize(b).values)! - exact)).toBeLessThan(0.06);
      }),
    );
  });

  it("has a sign for each dimension, and is compared with none of another length or of zeros", () => {
    expect(quantize([0.5, -0.25, 0]).signs).toBe("100");
    expect(cosine(quantize([1, 2]).values, quantize([1, 2, 3]).values)).toBeUndefined();
    expect(cosine(quantize([1, 2]).values, quantize([0, 0]).values)).toBeUndefined();
  });
});

describe("similarities", () => {
  const question = quantize([1, 0, 0]).values;
  const text = (...vector: number[]) => ({ vector: quantize(vector).values, length: 1 });

  it("count by how far a text stands out, in whatever range a model's cosines are", () => {
    const apart = similarities(question, [text(1, 0, 0), text(0, 1, 0), text(0, 0, 1)]);
    const close = similarities(question, [text(1, 1, 1), text(0.9, 1, 1), text(0.9, 1, 1)]);
    expect(apart[0]).toBeGreaterThan(2);
    expect(close[0]).toBeCloseTo(apart[0]!, 0);
    expect(apart.reduce((sum, value) => sum + value, 0)).toBeCloseTo(0);
  });

  it("let a text without a vector stand where the average does, and count for nothing where none stands out", () => {
    expect(similarities(question, [text(1, 0, 0), text(0, 1, 0), { vector: undefined, length: 1 }])[2]).toBe(0);
    expect(similarities(question, [text(1, 0, 0), { vector: undefined, length: 90 }])).toEqual([0, 0]);
    expect(similarities(question, [])).toEqual([]);
  });
});

describe("what a question means", () => {
  const asked: AskedCorpora = {
    question: { terms: ["kubernet"], actors: [], dates: [] },
    ids: [1],
    items: 3,
    averageLength: 4,
    frequencies: new Map(),
    forms: [],
  };
  const never = new AbortController().signal;

  it("is asked for in the form of a statement, in the first person of whom it names", () => {
    expect(statementOf("What did Caroline research?", ["@caroline"])).toBe("I research.");
    expect(statementOf("Which of Melanie’s pets is “older”?", ["@melanie"])).toBe("of I pets is older.");
    expect(statementOf("How long does the build of src/engine.ts take?", [])).toBe("long the build of src/engine.ts take.");
    expect(statementOf("Why?", [])).toBe("Why?");
  });

  it("holds no secret", async () => {
    const seen: string[] = [];
    const embedder: Embedder = { model: "m", embed: (texts) => (seen.push(...texts), Promise.resolve(texts.map(() => [1]))) };
    await withQuestionVector(embedder, asked, "Is AKIAIOSFODNN7EXAMPLE the key of kubernetes?", never);
    expect(seen.join()).toContain("kubernetes");
    expect(seen.join()).not.toContain("AKIAIOSFODNN7EXAMPLE");
  });

  it("is not asked for where there is nothing to find, and is left out, and said to be, where it cannot be had", async () => {
    const broken: Embedder = {
      model: "m",
      embed: () =>
        Promise.reject(new HlvmError({ code: "unavailable", reason: "embeddings_unavailable", message: "No vectors.", advice: "Look." })),
    };
    expect(await withQuestionVector(broken, { ...asked, items: 0 }, "kubernetes", never)).toMatchObject({ notice: "" });
    const answer = await withQuestionVector(broken, asked, "kubernetes", never);
    expect(answer).toEqual({ asked, notice: "No vectors. Words alone were compared. Look." });
    await expect(withQuestionVector(broken, asked, "kubernetes", AbortSignal.abort(new Error("gone")))).rejects.toThrow("gone");
  });
});
