import { expect, it } from "vitest";
import { unknownTools } from "./unknown-tools.ts";

it("finds the patterns that fit no tool", () => {
  expect(unknownTools(["shell_exec", "git_*", "shel_exec", "gti_*"])).toEqual(["shel_exec", "gti_*"]);
});
