import { sha256Hex } from "@hlvm/canonical-json/sha256-hex";
import { protectedPart, type ProtectedPath } from "@hlvm/protected-paths/protected-paths";
import { keepChanges } from "@hlvm/tools/platform-tools";
import type { JudgeCommand } from "../shell/judge-command.ts";
import type { CallJudgement, Danger, JudgeCall } from "./call-judgement.ts";

/** Comes back with the judge of shell commands; the first time it may have to be loaded. */
export type OpenCommandJudge = () => Promise<JudgeCommand>;

const RULE = "protected path";
const KEPT: Danger = {
  decision: "ask",
  rule: RULE,
  reason: "A command changed what programs outside of the sandbox obey. The change was put back, and is made again if you allow it.",
};

/** Whoever allowed the tool: what runs outside, later, changes only by the word of a person who saw the change. */
function obeyedElsewhere({ name, obeyer }: ProtectedPath): Danger {
  return { decision: "ask", rule: RULE, reason: `It writes to ${name}, which is obeyed outside of the sandbox (${obeyer}).` };
}

/** What outlives its call is for a person or a mode to allow, whatever it does. */
function inBackground(judgement: CallJudgement, command: string): CallJudgement {
  const scope = judgement.scope.length > 0 ? judgement.scope : [`exactly: ${sha256Hex(command)}`];
  return { ...judgement, level: "L2", scope: scope.map((part) => `${part} in the background`) };
}

/** Judges calls: shell commands by their text and the folder they start in, writes by where they go, every other tool by its definition. */
export function createCallJudge(openCommandJudge: OpenCommandJudge): JudgeCall {
  return async (tool, values) => {
    if (tool.category === "shell") {
      const { command, working_directory: workingDirectory } = values;
      if (typeof command !== "string" || (workingDirectory !== undefined && typeof workingDirectory !== "string")) return undefined;
      const judgeCommand = await openCommandJudge();
      const judgement = judgeCommand(command, workingDirectory);
      return values.background === true ? inBackground(judgement, command) : judgement;
    }
    const level = tool.safetyLevel;
    const destructive = tool.sideEffects === "destructive" ? { destructive: tool.name } : {};
    if (tool.name === keepChanges.name) return { level: "L2", scope: [], danger: KEPT };
    if (tool.category !== "write") return { level, scope: [], ...destructive };
    if (typeof values.path !== "string") return undefined;
    const found = protectedPart(values.path);
    if (found !== undefined) return { level: "L2", scope: [], danger: obeyedElsewhere(found), ...destructive };
    return { level, scope: [], ...destructive };
  };
}
