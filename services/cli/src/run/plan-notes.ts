import type { PlanItem } from "@hlvm/conversation/item";
import { permissionModeWord } from "@hlvm/ndjson/permission-mode";
import { TodoStatus, type TodoItem } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { Piece } from "../terminal/paint.ts";
import { printableLine } from "../terminal/printable.ts";

const BOXES: Readonly<Record<number, string>> = { [TodoStatus.IN_PROGRESS]: "▸", [TodoStatus.COMPLETED]: "✓" };
const MOST_LINES = 12;

/**
 * What came of a plan since it was told last.
 * @param options whether somebody reads who was not asked about it
 */
export function planNotes(plan: PlanItem, before: PlanItem | undefined, options: { readonly showsQuestions: boolean }): Piece[] {
  if (before === undefined) return [{ text: "plan:", tone: "plain" }, ...indented(plan.text)];
  if (plan.state === "rejected") return [{ text: `plan: not accepted: ${printableLine(plan.rejection, 300)}`, tone: "warning" }];
  if (before.state !== plan.state)
    return [
      { text: `plan: accepted, to go on in the mode ${permissionModeWord(plan.mode)}`, tone: "plain" },
      ...(options.showsQuestions ? indented(plan.text) : []),
    ];
  return plan.steps.flatMap(({ text, isCompleted }, index) => {
    if (isCompleted === before.steps[index]?.isCompleted) return [];
    return [{ text: `plan: step ${index + 1} ${isCompleted ? "done" : "open again"}: ${printableLine(text, 100)}`, tone: "dim" }];
  });
}

/** A list of what is to be done, for a person: what is done is counted where the whole would be long. */
export function todoNotes(items: readonly TodoItem[]): Piece[] {
  const done = items.filter(({ status }) => status === TodoStatus.COMPLETED).length;
  const shown = items.length <= MOST_LINES ? items : items.filter(({ status }) => status !== TodoStatus.COMPLETED).slice(0, MOST_LINES);
  return [
    { text: `todo: ${done} of ${items.length} done`, tone: "dim" },
    ...shown.map(({ text, status }): Piece => ({ text: `  ${BOXES[status] ?? "·"} ${printableLine(text, 100)}`, tone: "dim" })),
  ];
}

function indented(text: string): Piece[] {
  return text
    .trim()
    .split("\n")
    .map((line) => ({ text: `  ${printableLine(line)}`, tone: "plain" }));
}
