import { describe, expect, it } from "vitest";
import { findNativeTool } from "@hlvm/tools/native-tools";
import { createCallJudge } from "./create-call-judge.ts";

const judge = createCallJudge(() => ({ level: "L0", scope: [] }));
const writeTo = (path: unknown): string | undefined => judge(findNativeTool("write_file")!, { path: path as string, content: "" })?.level;

describe("createCallJudge", () => {
  it("52: puts writes to what other programs obey at L2, however the path is written", () => {
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
    expect(paths.map(writeTo)).toEqual(paths.map(() => "L2"));
    expect(["src/a.ts", ".gitignore", "git/hooks", ".env.example", "docs/.vscodex"].map(writeTo)).toEqual(["L1", "L1", "L1", "L1", "L1"]);
  });

  it("takes every other tool's level from its definition, and judges nothing that it cannot read", () => {
    expect(judge(findNativeTool("read_file")!, { path: ".git/config" })).toEqual({ level: "L0", scope: [] });
    expect(judge(findNativeTool("memory_edit")!, {})).toEqual({ level: "L1", scope: [] });
    expect(writeTo(7)).toBeUndefined();
    expect(judge(findNativeTool("shell_exec")!, {})).toBeUndefined();
  });
});
