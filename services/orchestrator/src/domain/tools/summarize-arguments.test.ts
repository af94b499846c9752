import { expect, it } from "vitest";
import { summarizeArguments } from "./summarize-arguments.ts";

it("shows the argument that tells most, on one line", () => {
  expect(summarizeArguments({ content: "long", path: "a.txt" })).toBe("a.txt");
  expect(summarizeArguments({ command: "make\n  test" })).toBe("make test");
  expect(summarizeArguments({ depth: 2 })).toBe("2");
  expect(summarizeArguments({ command: "x".repeat(500) })).toHaveLength(120);
});
