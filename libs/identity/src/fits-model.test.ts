import { expect, it } from "vitest";
import { fitsModel } from "./fits-model.ts";

it.each([
  ["anthropic/claude-opus-5", "anthropic/*", true],
  ["anthropic/claude-opus-5", "anthropic/claude-opus-5", true],
  ["anthropic/claude-opus-5", "anthropic/claude", false],
  ["openai/gpt-5", "anthropic/*", false],
  ["evil/anthropic/x", "anthropic/*", false],
  ["llama/qwen-7b-q4", "llama/*-q4", true],
  ["llama/q4", "llama/*q4*q4", false],
  ["llama/a.b", "llama/a?b", false],
  ["anything/at-all", "*", true],
  ["", "", true],
])("%s and %s: %s", (model, pattern, fits) => {
  expect(fitsModel(model, pattern)).toBe(fits);
});

it("takes no long time for a pattern that was made to take one", () => {
  const started = performance.now();
  fitsModel(`${"a".repeat(256)}b`, `${"*a".repeat(128)}c`);
  expect(performance.now() - started).toBeLessThan(1_000);
});
