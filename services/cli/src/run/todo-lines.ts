import { TodoStatus, type TodoItem } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { printableLine } from "../terminal/printable.ts";

const BOXES: Readonly<Record<number, string>> = { [TodoStatus.IN_PROGRESS]: "▸", [TodoStatus.COMPLETED]: "✓" };
const MOST_LINES = 12;

/** A list of what is to be done, for a person: what is done is counted where the whole would be long. */
export function todoLines(items: readonly TodoItem[]): string[] {
  const done = items.filter(({ status }) => status === TodoStatus.COMPLETED).length;
  const shown = items.length <= MOST_LINES ? items : items.filter(({ status }) => status !== TodoStatus.COMPLETED).slice(0, MOST_LINES);
  return [
    `todo: ${done} of ${items.length} done`,
    ...shown.map(({ text, status }) => `  ${BOXES[status] ?? "·"} ${printableLine(text, 100)}`),
  ];
}
