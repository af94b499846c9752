import { permissionModeWord } from "@hlvm/ndjson/permission-mode";
import { TodoStatus, type Event, type TodoItem } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { Tone } from "../terminal/paint.ts";
import { printableLine } from "../terminal/printable.ts";

const BOXES: Readonly<Record<number, string>> = { [TodoStatus.IN_PROGRESS]: "▸", [TodoStatus.COMPLETED]: "✓" };
const MOST_LINES = 12;

type WorkPayload = Extract<Event["payload"], { case: "todoUpdated" | "planCreated" | "planAnswered" | "planStep" | "reminder" }>;

export interface WorkLine {
  readonly text: string;
  readonly tone: Tone;
}

/**
 * What a run is working on, for a person: its list, its plan and what came of it.
 * @param options whether somebody reads who was not asked about the plan, and who wants to know what the model is reminded of
 */
export function workLines({ case: type, value }: WorkPayload, options: { verbose: boolean; showsQuestions: boolean }): WorkLine[] {
  switch (type) {
    case "todoUpdated":
      return todoLines(value.items).map((text) => ({ text, tone: "dim" }));
    case "planCreated":
      return [{ text: "plan:", tone: "plain" }, ...indented(value.text)];
    case "planAnswered":
      if (!value.accepted) return [{ text: `plan: not accepted: ${printableLine(value.text, 300)}`, tone: "warning" }];
      return [
        { text: `plan: accepted, to go on in the mode ${permissionModeWord(value.mode)}`, tone: "plain" },
        ...(options.showsQuestions ? indented(value.text) : []),
      ];
    case "planStep": {
      const { index, step, completed } = value;
      return [{ text: `plan: step ${index} ${completed ? "done" : "open again"}: ${printableLine(step, 100)}`, tone: "dim" }];
    }
    case "reminder":
      return options.verbose ? [{ text: `reminder: ${printableLine(value.text, 200)}`, tone: "dim" }] : [];
  }
}

function indented(text: string): WorkLine[] {
  return text
    .trim()
    .split("\n")
    .map((line) => ({ text: `  ${printableLine(line)}`, tone: "plain" }));
}

/** A list of what is to be done, for a person: what is done is counted where the whole would be long. */
function todoLines(items: readonly TodoItem[]): string[] {
  const done = items.filter(({ status }) => status === TodoStatus.COMPLETED).length;
  const shown = items.length <= MOST_LINES ? items : items.filter(({ status }) => status !== TodoStatus.COMPLETED).slice(0, MOST_LINES);
  return [
    `todo: ${done} of ${items.length} done`,
    ...shown.map(({ text, status }) => `  ${BOXES[status] ?? "·"} ${printableLine(text, 100)}`),
  ];
}
