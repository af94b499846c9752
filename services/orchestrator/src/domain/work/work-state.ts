import { PermissionMode } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { Phase, TodoStatus, type Event, type PlanStep, type ReminderKind, type TodoItem } from "@hlvm/proto/hlvm/session/v1/event_pb";

const BOXES: Readonly<Record<TodoStatus, string>> = {
  [TodoStatus.UNSPECIFIED]: "[ ]",
  [TodoStatus.PENDING]: "[ ]",
  [TodoStatus.IN_PROGRESS]: "[>]",
  [TodoStatus.COMPLETED]: "[x]",
};

interface AcceptedPlan {
  readonly text: string;
  readonly steps: readonly string[];
}

type FoldedEvent = Pick<Event, "turn" | "payload"> & { readonly sequence?: bigint };

/** What a session's model is working on, folded from the log: its list, its plan, its phase, and what it was reminded of. */
export class WorkState {
  todo: readonly TodoItem[] = [];
  /** The last one that its person accepted. */
  plan: AcceptedPlan | undefined;
  /** In which the run goes on. */
  mode: PermissionMode = PermissionMode.UNSPECIFIED;
  phase: Phase = Phase.UNSPECIFIED;
  /** The call that waits, or waited last, with a plan. */
  proposedBy = "";
  /** The turn in which it was reminded of each kind, in this run and since the last compaction. */
  readonly reminded = new Map<ReminderKind, number>();
  /** The turn of the run in which the list was written last. */
  todoTurn = 0;
  /** Of the events that a compaction leaves as they are; 0 where there is none. */
  readonly anchors = { todo: 0n, plan: 0n };
  /** Steps of the plan, from 1, of which the list says that they are done. */
  readonly #done = new Set<number>();

  add({ payload, turn, sequence = 0n }: FoldedEvent): void {
    switch (payload.case) {
      case "runStarted":
        this.mode = payload.value.settings?.mode ?? PermissionMode.UNSPECIFIED;
        this.phase = Phase.UNSPECIFIED;
        this.todoTurn = 0;
        return this.reminded.clear();
      case "todoUpdated":
        for (const { index, completed } of this.changedSteps(payload.value.items)) {
          if (completed) this.#done.add(index);
          else this.#done.delete(index);
        }
        this.todo = payload.value.items;
        this.todoTurn = turn;
        this.anchors.todo = sequence;
        return;
      case "planCreated":
        this.proposedBy = payload.value.callId;
        return;
      case "planAnswered":
        if (!payload.value.accepted) return;
        this.plan = payload.value;
        this.mode = payload.value.mode;
        this.anchors.plan = sequence;
        return this.#done.clear();
      case "reminder":
        this.reminded.set(payload.value.kind, turn);
        return;
      case "turnStats":
        this.phase = payload.value.phase;
        return;
      case "compaction":
        // What it was reminded of was folded with the rest.
        this.reminded.clear();
    }
  }

  /** Steps of the plan of which a list says something else than was said before. */
  changedSteps(items: readonly Pick<TodoItem, "text" | "status">[]): Pick<PlanStep, "index" | "step" | "completed">[] {
    const status = new Map(items.map((item) => [normal(item.text), item.status]));
    return (this.plan?.steps ?? []).flatMap((step, place) => {
      const said = status.get(normal(step));
      const completed = said === TodoStatus.COMPLETED;
      return said === undefined || completed === this.#done.has(place + 1) ? [] : [{ index: place + 1, step, completed }];
    });
  }

  get hasOpenItems(): boolean {
    return this.todo.some(({ status }) => status !== TodoStatus.COMPLETED);
  }

  /** The list as a model reads it, a line for each entry: none of them can go on as the platform's words. Empty where there is none. */
  todoText(): string {
    return this.todo.map(({ text, status }) => `- ${BOXES[status] ?? "[ ]"} ${text.replaceAll(/\s+/g, " ")}`).join("\n");
  }
}

function normal(text: string): string {
  return text
    .replaceAll(/[\s*`]+/g, " ")
    .trim()
    .toLowerCase();
}
