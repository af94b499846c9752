import { expect, it } from "vitest";
import { evalSetting } from "./eval-setting.ts";

it("reads a model, a mode and tools that are denied, each where it is given", () => {
  expect(evalSetting("  model=a/b   mode=plan disallow=git_*,shell_exec ")).toEqual({
    name: "model=a/b mode=plan disallow=git_*,shell_exec",
    model: "a/b",
    mode: "plan",
    disallowedTools: ["git_*", "shell_exec"],
  });
  expect(evalSetting("disallow=shell_exec")).toMatchObject({ model: "", mode: "bypassPermissions" });
});

it.each([
  ["", 'A setting cannot have ""'],
  ["model", 'A setting cannot have "model"'],
  ["model=", 'A setting cannot have "model="'],
  ["temperature=1", 'A setting cannot have "temperature=1"'],
  ["model=a/b model=c/d", 'A setting cannot have "model=c/d"'],
  ["mode=yolo", 'There is no permission mode "yolo"'],
  ["disallow=shell exec", 'A setting cannot have "exec"'],
  ["disallow=Shell", '"Shell" is not a tool\'s name'],
])("refuses %j", (text, message) => {
  expect(() => evalSetting(text)).toThrow(expect.objectContaining({ reason: "wrong_usage", message: expect.stringContaining(message) }));
});
