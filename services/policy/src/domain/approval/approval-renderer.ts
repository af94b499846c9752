import { canonicalArguments } from "@hlvm/canonical-json/canonical-arguments";
import type { FindTool } from "../decide/resolve-call.ts";
import type { JudgeCall } from "../judge/call-judgement.ts";
import type { Approval } from "./approval.ts";
import type { ApprovalRendering } from "./approval-rendering.ts";
import { findMarks } from "./find-marks.ts";
import { limitRendering } from "./limit-rendering.ts";
import { renderArguments } from "./render-arguments.ts";

/** With the question itself, which a session's log keeps. */
export const QUESTION_RENDERING_BYTES = 200_000;
/** By itself: arguments of 4 MiB fit, whatever they hold but for floods of what cannot be seen. */
export const WHOLE_RENDERING_BYTES = 10 * 1024 * 1024;

/** Undefined where the arguments are not kept any more. */
export type RenderApproval = (approval: Approval, maximumBytes: number) => Promise<ApprovalRendering | undefined>;

/** Renders the very bytes that will run, with the part marked that made policy ask. */
export function createApprovalRenderer({ findTool, judgeCall }: { findTool: FindTool; judgeCall: JudgeCall }): RenderApproval {
  return async (approval, maximumBytes) => {
    if (approval.argumentsJson === "") return undefined;
    const { value } = canonicalArguments(approval.argumentsJson);
    const marks = await findMarks(approval, value, findTool(approval.tool), judgeCall);
    return limitRendering(renderArguments(value, marks), maximumBytes);
  };
}
