import type { Git } from "./run-git.ts";
import { ToolFailure, type ToolAnswer } from "../../../runner/tool.ts";

const DEFAULT_LIMIT = 20;

export interface GitLogArguments {
  readonly limit?: number;
  readonly path?: string;
}

export async function gitLog(given: GitLogArguments, git: Git): Promise<ToolAnswer> {
  const limit = given.limit ?? DEFAULT_LIMIT;
  const words = ["log", `--max-count=${limit}`, "--no-color", "--no-ext-diff", "--no-show-signature", "--date=iso-strict"];
  words.push("--format=%h %ad %an: %s", "--");
  if (given.path !== undefined) words.push(git.pathOf(given.path));
  const output = await git.run(words);
  if (output.exitCode !== 0 && /does not have any commits yet/.test(output.complaint))
    return { content: "[the repository has no commits yet]", summary: "no commits" };
  if (output.exitCode !== 0) throw new ToolFailure("command_failed", `git log failed: ${output.complaint}`);
  if (output.text === "") return { content: "[no commits touch this path]", summary: "no commits" };
  const count = output.text.trimEnd().split("\n").length;
  return {
    content: output.text.trimEnd(),
    summary: `${count} ${count === 1 ? "commit" : "commits"}`,
    resultBytes: output.bytes,
    truncated: output.isCut,
  };
}
