import type { DemoCall, DemoTurn, Situation, ToolOutcome } from "./situation.ts";
import { failureLine, head } from "./tool-text.ts";

const SHOWN_LINES = 60;

/** A question that names one thing to do: do it, then say what came of it. */
export function makeCall(situation: Situation, call: DemoCall): DemoTurn {
  const outcome = situation.outcomes.at(-1);
  if (outcome === undefined) return { text: "", calls: [{ tool: call.tool, arguments: call.arguments }] };
  return { text: outcome.isError ? failureLine(outcome) : success(outcome), calls: [] };
}

function success(outcome: ToolOutcome): string {
  const shown = head(outcome.content, SHOWN_LINES);
  switch (outcome.tool) {
    case "write_file":
      return `${String(outcome.arguments.path)} is written. write_file returned:\n${shown}`;
    case "shell_exec":
      return `\`${String(outcome.arguments.command)}\` returned:\n${shown === "" ? "(no output)" : shown}`;
    case "memory_write":
      return `Remembered: ${String(outcome.arguments.text)}`;
    default:
      return `${outcome.tool} returned:\n${shown}`;
  }
}
