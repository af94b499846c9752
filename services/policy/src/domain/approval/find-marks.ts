import type { JsonValue } from "@hlvm/canonical-json/canonical-json";
import type { ToolDefinition } from "@hlvm/tools/tool-definition";
import type { JudgeCall } from "../judge/call-judgement.ts";
import { findMarkedParts } from "../shell/find-marked-parts.ts";
import type { TextRange } from "../shell/text-range.ts";
import type { Approval } from "./approval.ts";
import type { MarkedParts } from "./approval-rendering.ts";

/** Which part of a call's arguments made policy ask; empty where it is the tool itself. */
export async function findMarks(
  { safetyLevel: level, step, rule }: Approval,
  values: { readonly [name: string]: JsonValue },
  definition: ToolDefinition | undefined,
  judgeCall: JudgeCall,
): Promise<MarkedParts> {
  const marks = new Map<string, readonly TextRange[]>();
  const { command, path, working_directory: folder } = values;
  if (definition?.category === "write" && level === "L2" && typeof path === "string") marks.set("path", wholly(path));
  if (definition?.category !== "shell" || typeof command !== "string") return marks;
  marks.set(
    "command",
    await findMarkedParts({ command, level, step, rule }, (part) => judgeCall(definition, { ...values, command: part })),
  );
  if (typeof folder === "string" && (await judgeCall(definition, { command }))?.level !== level)
    marks.set("working_directory", wholly(folder));
  return marks;
}

function wholly(text: string): TextRange[] {
  return [{ start: 0, end: text.length }];
}
