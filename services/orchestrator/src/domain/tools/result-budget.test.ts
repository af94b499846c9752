import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { ToolResultSchema } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { ResultBudget } from "./result-budget.ts";

const result = (content: string) => create(ToolResultSchema, { success: true, content });

it("cuts what is over the run's limit and says so to the model", () => {
  const budget = new ResultBudget(10);
  expect(budget.limit(result("123456"))).toMatchObject({ content: "123456", truncated: false });
  expect(budget.limit(result("abcdefgh"))).toMatchObject({ content: expect.stringMatching(/^abcd\n\[Cut after 4 of 8/), truncated: true });
  expect(budget.limit(result("more"))).toMatchObject({ content: expect.stringMatching(/^\[Cut after 0 of 4/), truncated: true });
});

it("never cuts a character in two", () => {
  expect(new ResultBudget(2).limit(result("a😀b")).content).toMatch(/^a\n\[Cut/);
});
