import { expect, it } from "vitest";
import { textHunks } from "./text-hunks.ts";

it("shows texts that differ too much to be compared as replaced, in a moment", () => {
  const [old, fresh] = ["a", "b"].map((word) => Array.from({ length: 8_000 }, (_, at) => `${word}${at % 5}\n`).join(""));
  const began = performance.now();
  const [hunk, ...others] = textHunks(old!, fresh!);
  expect(performance.now() - began).toBeLessThan(3_000);
  expect(others).toEqual([]);
  expect(hunk!.lines.map(({ sign, text }) => sign + text).join("\n")).toBe(
    [
      ...old!
        .trim()
        .split("\n")
        .map((line) => `-${line}`),
      ...fresh!
        .trim()
        .split("\n")
        .map((line) => `+${line}`),
    ].join("\n"),
  );
  expect([hunk!.lines[0]!.before, hunk!.lines.at(-1)!.after]).toEqual([1, 8_000]);
});
