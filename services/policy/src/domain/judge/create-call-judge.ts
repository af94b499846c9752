import type { JudgeCommand } from "../shell/judge-command.ts";
import type { JudgeCall } from "./call-judgement.ts";
import { sensitivePart } from "./sensitive-path.ts";

/** Judges calls: shell commands by their text, writes by where they go, every other tool by its definition. */
export function createCallJudge(judgeCommand: JudgeCommand): JudgeCall {
  return (tool, values) => {
    if (tool.category === "shell") return typeof values.command === "string" ? judgeCommand(values.command) : undefined;
    const level = tool.safetyLevel;
    const destructive = tool.sideEffects === "destructive" ? { destructive: tool.name } : {};
    if (tool.category !== "write") return { level, scope: [], ...destructive };
    if (typeof values.path !== "string") return undefined;
    const sensitive = sensitivePart(values.path);
    // The scope keeps "always write_file" at L2 to the kind of place that the person saw.
    if (sensitive !== undefined) return { level: "L2", scope: [`writes to ${sensitive}`], ...destructive };
    return { level, scope: [], ...destructive };
  };
}
