import { describe, expect, it } from "vitest";
import { findNativeTool } from "@hlvm/tools/native-tools";
import { createCallJudge } from "./create-call-judge.ts";

const judge = createCallJudge(() => Promise.reject(new Error("no shell command is judged here")));
const writeTo = async (path: unknown): Promise<string | undefined> =>
  (await judge(findNativeTool("write_file")!, { path: path as string, content: "" }))?.level;

describe("createCallJudge", () => {
  it("52: puts writes to what other programs obey at L2, however the path is written", async () => {
    const paths = [
      ".git/hooks/pre-commit",
      ".vscode/tasks.json",
      ".github/workflows/ci.yml",
      "a/../.GIT/config",
      "./x//.husky/y",
      ".gitlab-ci.yml",
      "sub/.envrc",
      ".git",
    ];
    expect(await Promise.all(paths.map(writeTo))).toEqual(paths.map(() => "L2"));
    const others = ["src/a.ts", ".gitignore", "git/hooks", ".env.example", "docs/.vscodex"];
    expect(await Promise.all(others.map(writeTo))).toEqual(others.map(() => "L1"));
  });

  it("takes every other tool's level from its definition, and judges nothing that it cannot read", async () => {
    expect(await judge(findNativeTool("read_file")!, { path: ".git/config" })).toEqual({ level: "L0", scope: [] });
    expect(await judge(findNativeTool("memory_edit")!, {})).toEqual({ level: "L1", scope: [] });
    expect(await writeTo(7)).toBeUndefined();
    expect(await judge(findNativeTool("shell_exec")!, {})).toBeUndefined();
  });

  it("judges a command in the folder where it would start, and nothing where that folder is no text", async () => {
    const inFolder = createCallJudge(() => Promise.resolve((command, folder = "none") => ({ level: "L0", scope: [command, folder] })));
    const shell = findNativeTool("shell_exec")!;
    expect(await inFolder(shell, { command: "ls" })).toMatchObject({ scope: ["ls", "none"] });
    expect(await inFolder(shell, { command: "ls", working_directory: ".git/hooks" })).toMatchObject({ scope: ["ls", ".git/hooks"] });
    expect(await inFolder(shell, { command: "ls", working_directory: 7 })).toBeUndefined();
  });
});
