import { expect, it } from "vitest";
import { LoopDetector } from "./loop-detector.ts";

it("warns at the third identical call in a row and stops at the next", () => {
  const detector = new LoopDetector(2);
  const see = (tool: string): string => detector.see(tool, "{}");
  expect(["a", "a", "b", "a", "a"].map(see)).toEqual(["run", "run", "run", "run", "run"]);
  expect(["a", "a"].map(see)).toEqual(["warn", "stop"]);
});

it("stops a model that was warned and repeats itself again later", () => {
  const detector = new LoopDetector(2);
  const see = (argumentsJson: string): string => detector.see("t", argumentsJson);
  expect(["1", "1", "1", "2", "2", "2"].map(see)).toEqual(["run", "run", "warn", "run", "run", "stop"]);
});
