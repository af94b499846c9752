import type { Git } from "./run-git.ts";
import type { ToolAnswer } from "../../../runner/tool.ts";

export async function gitStatus(_given: object, git: Git): Promise<ToolAnswer> {
  const words = ["status", "--porcelain=v1", "--branch", "--untracked-files=normal", "--ignore-submodules=dirty"];
  const output = await git.require(words);
  const lines = output.text.trimEnd().split("\n");
  const changed = lines.length - 1;
  const branch = lines[0]!.replace(/^## /, "");
  return {
    content: changed === 0 ? `${lines[0]}\n[nothing is changed]` : lines.join("\n"),
    summary: `${branch.split("...")[0]}, ${changed} ${changed === 1 ? "file" : "files"} changed`,
    resultBytes: output.bytes,
    truncated: output.isCut,
  };
}
