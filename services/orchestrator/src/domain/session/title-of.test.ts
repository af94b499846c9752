import { expect, it } from "vitest";
import { titleOf } from "./title-of.ts";

it("cuts a prompt to one line that a database takes", () => {
  expect(titleOf("  fix\nthe\u0000 build  ")).toBe("fix the build");
  expect([...titleOf("😀".repeat(200))]).toHaveLength(80);
});
