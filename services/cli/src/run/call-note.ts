import type { ToolCallView } from "@hlvm/conversation/item";
import type { Piece } from "../terminal/paint.ts";
import { printableLine } from "../terminal/printable.ts";
import { shortDuration, shortSize } from "../terminal/sizes.ts";

/** What came of a call: that it was denied, and by what, or how it ended. */
export function callNote(call: ToolCallView): Piece {
  const { tool, state, summary, argumentsJson, outcome, deniedBy, exitCode, durationMilliseconds = 0, resultBytes } = call;
  const isGood = state === "succeeded";
  const target = printableLine(summary || argumentsJson, 100);
  const named = `${isGood ? "✓" : "✗"} ${printableLine(tool)} ${target}`.trimEnd();
  if (state === "denied")
    return { text: `${named} · denied (${printableLine(deniedBy)}): ${printableLine(outcome, 300)}`, tone: "warning" };
  const facts = [named, shortDuration(durationMilliseconds), shortSize(resultBytes)];
  if (call.isReplayed) facts.push("as recorded");
  if (call.isShortened) facts.push("shortened for the model");
  if (exitCode !== undefined && exitCode !== 0) facts.push(`exit ${exitCode}`);
  if (isGood) return { text: facts.join(" · "), tone: "dim" };
  return { text: [...facts, printableLine(outcome)].join(" · "), tone: "warning" };
}
