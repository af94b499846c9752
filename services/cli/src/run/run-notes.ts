import type { RunView } from "@hlvm/conversation/conversation";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { permissionModeWord } from "@hlvm/ndjson/permission-mode";
import { Phase, PhaseSchema, StopReason, StopReasonSchema, type TurnStats } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { costText } from "../output/cost-text.ts";
import type { Piece } from "../terminal/paint.ts";
import { counted, shortDuration } from "../terminal/sizes.ts";

export function runStartedNote({ model, mode, workspace }: RunView): Piece {
  return { text: `model ${model} · mode ${permissionModeWord(mode)} · workspace ${workspace}`, tone: "dim" };
}

export function turnNote({ toolCount, durationMilliseconds, inputTokens, outputTokens, phase }: TurnStats): Piece {
  const facts = [shortDuration(durationMilliseconds), counted(toolCount, "tool"), `${inputTokens} tokens in`, `${outputTokens} out`];
  if (phase !== Phase.UNSPECIFIED) facts.unshift(enumWord(PhaseSchema, phase));
  return { text: `turn: ${facts.join(" · ")}`, tone: "dim" };
}

/** The figures of a run that has ended; why it did is an item. */
export function runStoppedNotes(run: RunView, verbose: boolean): Piece[] {
  const { stopReason = StopReason.UNSPECIFIED, turns, toolCalls, durationMilliseconds, cost } = run;
  const { nanoDollars = 0n, unpricedCalls = 0 } = cost ?? {};
  const notes: Piece[] = [];
  if (verbose) {
    const facts = [
      enumWord(StopReasonSchema, stopReason),
      counted(turns, "turn"),
      counted(toolCalls, "tool call"),
      shortDuration(durationMilliseconds),
    ];
    notes.push({ text: facts.join(" · "), tone: "dim" });
  }
  if (nanoDollars > 0n || unpricedCalls > 0) notes.push({ text: `cost: ${costText(cost)}`, tone: "dim" });
  return notes;
}
