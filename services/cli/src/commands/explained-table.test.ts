import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { FoundFactSchema } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { explainedTable } from "./explained-table.ts";

const found = (text: string, parts: object) =>
  create(FoundFactSchema, {
    fact: { text },
    score: 1.5,
    parts: { terms: [{ term: "deploy", score: 1.25 }], provenance: 1, tieBreak: 0.5, coverage: 0.75, gate: 0.5, ...parts },
  });

it("shows what each part gave, and leaves out those that gave nothing to any", () => {
  const [head, one, other] = explainedTable([found("by words", {}), found("by both", { similarity: 0.25, coverage: 0.25 })])
    .split("\n")
    .map((line) => line.split(/ {2,}/).map((cell) => cell.trim()));
  expect(head).toEqual(["SCORE", "WORDS", "MEANS", "SAID BY", "AGE", "COVERS", "BY WORD", "TEXT"]);
  expect(one).toEqual(["1.50", "1.25", "0.00", "×1.00", "×0.50", "0.75 ≥ 0.50", "deploy 1.25", "by words"]);
  expect(other).toEqual(["1.50", "1.25", "0.25", "×1.00", "×0.50", "0.25 < 0.50", "deploy 1.25", "by both"]);
});

it("has no column for meanings where nothing compares them", () => {
  expect(explainedTable([found("by words", {})])).not.toContain("MEANS");
});

it("shows nothing of a fact that was not explained", () => {
  expect(explainedTable([create(FoundFactSchema, { fact: { text: "bare" } })])).not.toContain("bare");
});
