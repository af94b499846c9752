import { expect } from "vitest";

export function jsonLines(text: string): { type: string; [field: string]: unknown }[] {
  expect(text.endsWith("\n")).toBe(true);
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string });
}
