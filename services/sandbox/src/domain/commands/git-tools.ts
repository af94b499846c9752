import type { CommandSandbox, ToolRun } from "../isolation.ts";
import { failureOf } from "../../../runner/failure-of.ts";
import { ToolFailure, type ToolAnswer } from "../../../runner/tool.ts";
import { failedResult, type ToolResult } from "../tool-event.ts";
import { gitDiff } from "./git-diff.ts";
import { gitLog } from "./git-log.ts";
import { gitStatus } from "./git-status.ts";
import { Git } from "./run-git.ts";

type GitTool = (given: never, git: Git) => Promise<ToolAnswer>;

const TOOLS: Readonly<Record<string, GitTool>> = { git_status: gitStatus, git_diff: gitDiff, git_log: gitLog };

export function isGitTool(name: string): boolean {
  return Object.hasOwn(TOOLS, name);
}

/**
 * Runs a git tool: git in sandboxes that may only read, each for one run of it, so that whatever a repository has it do can
 * neither stay nor reach what reports on it.
 */
export async function runGitTool(
  run: ToolRun,
  take: () => Promise<CommandSandbox>,
  workspace: string,
  signal: AbortSignal,
): Promise<ToolResult> {
  const began = performance.now();
  const took = (): number => Math.round(performance.now() - began);
  const limit = AbortSignal.timeout(run.timeoutMilliseconds);
  const git = new Git(take, workspace, AbortSignal.any([signal, limit]));
  try {
    const answer = await TOOLS[run.tool]!(JSON.parse(run.argumentsJson) as never, git);
    return {
      success: true,
      content: answer.content,
      summary: answer.summary,
      errorCode: "",
      durationMilliseconds: took(),
      resultBytes: answer.resultBytes ?? Buffer.byteLength(answer.content),
      truncated: answer.truncated ?? false,
    };
  } catch (thrown) {
    if (signal.aborted) return failedResult("cancelled", "The tool was cancelled.", took());
    if (limit.aborted) return failedResult("timeout", `The tool was ended after ${run.timeoutMilliseconds / 1_000} s.`, took());
    const failure = thrown instanceof ToolFailure ? thrown : failureOf(thrown, run.tool);
    return failedResult(failure.errorCode, failure.message, took());
  }
}
