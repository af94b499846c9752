import type { Git } from "./run-git.ts";
import { ToolFailure, type ToolAnswer } from "../../../runner/tool.ts";

export interface GitDiffArguments {
  readonly staged?: boolean;
  readonly reference?: string;
  readonly path?: string;
}

export async function gitDiff(given: GitDiffArguments, git: Git): Promise<ToolAnswer> {
  const words = ["diff", "--no-color", "--no-ext-diff", "--no-textconv", "--submodule=short", "--ignore-submodules=dirty"];
  if (given.staged === true) words.push("--cached");
  if (given.reference !== undefined) words.push(await commitOf(given.reference, git));
  words.push("--");
  if (given.path !== undefined) words.push(git.pathOf(given.path));
  const output = await git.require(words);
  if (output.text === "") return { content: "[no differences]", summary: "no differences" };
  const files = output.text.match(/^diff --git /gm)?.length ?? 0;
  return {
    content: output.text,
    summary: `${files}${output.isCut ? "+" : ""} ${files === 1 ? "file" : "files"} changed`,
    resultBytes: output.bytes,
    truncated: output.isCut,
  };
}

/** The commit that a name stands for: what git is then given cannot be an option. */
async function commitOf(reference: string, git: Git): Promise<string> {
  if (reference.startsWith("-")) throw new ToolFailure("invalid_arguments", `A reference cannot begin with "-": ${reference}.`);
  const output = await git.run(["rev-parse", "--verify", "--quiet", "--end-of-options", `${reference}^{commit}`]);
  if (output.exitCode !== 0)
    throw new ToolFailure("not_found", `There is no commit or branch ${reference}. git_log shows the latest commits.`);
  return output.text.trim();
}
