import { protectedPart } from "@hlvm/protected-paths/protected-paths";
import type { JudgeCommand } from "../shell/judge-command.ts";
import type { JudgeCall } from "./call-judgement.ts";

/** Comes back with the judge of shell commands; the first time it may have to be loaded. */
export type OpenCommandJudge = () => Promise<JudgeCommand>;

/** Judges calls: shell commands by their text and the folder they start in, writes by where they go, every other tool by its definition. */
export function createCallJudge(openCommandJudge: OpenCommandJudge): JudgeCall {
  return async (tool, values) => {
    if (tool.category === "shell") {
      const { command, working_directory: workingDirectory } = values;
      if (typeof command !== "string" || (workingDirectory !== undefined && typeof workingDirectory !== "string")) return undefined;
      const judgeCommand = await openCommandJudge();
      return judgeCommand(command, workingDirectory);
    }
    const level = tool.safetyLevel;
    const destructive = tool.sideEffects === "destructive" ? { destructive: tool.name } : {};
    if (tool.category !== "write") return { level, scope: [], ...destructive };
    if (typeof values.path !== "string") return undefined;
    const found = protectedPart(values.path);
    // The scope keeps "always write_file" at L2 to the kind of place that the person saw.
    if (found !== undefined) return { level: "L2", scope: [`writes to ${found.name}`], ...destructive };
    return { level, scope: [], ...destructive };
  };
}
