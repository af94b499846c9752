import { Conversation, type Change, type RunView as RunState } from "@hlvm/conversation/conversation";
import type { ApprovalItem, AssistantItem, ToolCallView, ToolsItem } from "@hlvm/conversation/item";
import type { HlvmError } from "@hlvm/errors/hlvm-error";
import { ApprovalKind } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import type { Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { Piece } from "../terminal/paint.ts";
import { printableLine } from "../terminal/printable.ts";
import type { Screen } from "../terminal/screen.ts";
import { callNote } from "./call-note.ts";
import { approvalNotes, askerName, itemNotes } from "./item-notes.ts";
import { planNotes, todoNotes } from "./plan-notes.ts";
import { runStartedNote, runStoppedNotes, turnNote } from "./run-notes.ts";
import type { RunView } from "./run-view.ts";

const WAITS: Readonly<Record<number, string>> = {
  [ApprovalKind.PLAN]: "a plan waits to be accepted",
  [ApprovalKind.QUESTION]: "the model asks something, and waits",
};
/** So many items are held before those are forgotten that stay as they are: what was printed is not needed again. */
const HELD_ITEMS = 200;

export interface TextViewOptions {
  /** Also the model, the session, thinking, and figures of every turn. */
  readonly verbose: boolean;
  /** Also what people asked: for somebody who did not ask it just now. */
  readonly showsQuestions: boolean;
}

/** A run for a person: what changes in the folded conversation, as text; the answer as it comes, and a line for everything else. */
export class TextView implements RunView {
  readonly #screen: Screen;
  readonly #options: TextViewOptions;
  readonly #conversation = new Conversation((change) => this.#changed(change));
  #sessionId = "";
  /** What was told already, of what is no item. */
  #shown: Pick<Conversation, "run" | "todo" | "turnStats" | "reminder" | "thinkingSequence"> = {
    run: undefined,
    todo: this.#conversation.todo,
    turnStats: undefined,
    reminder: undefined,
    thinkingSequence: 0n,
  };

  constructor(screen: Screen, options: TextViewOptions) {
    this.#screen = screen;
    this.#options = options;
  }

  started({ sessionId, model, workspace }: { sessionId: string; model: string; workspace: string }): void {
    if (this.#options.verbose) this.#screen.note(`model ${model} · session ${sessionId} · workspace ${workspace}`, "dim");
    this.#screen.status("thinking");
  }

  connectionLost(): void {
    this.#screen.note("The connection to the run is lost; resuming it.", "warning");
  }

  failed(error: HlvmError, stopReason: "error" | "user_cancelled"): void {
    this.#screen.status("");
    if (stopReason === "user_cancelled") return this.#screen.note("cancelled", "warning");
    this.#screen.note(error.message, "bad");
    if (error.advice !== "") this.#screen.note(`What to do: ${error.advice}`);
  }

  event(event: Event): void {
    this.#sessionId = event.sessionId;
    this.#conversation.add([event]);
    this.#tellBesides();
    if (this.#conversation.items.length >= HELD_ITEMS) this.#conversation.takeSettled();
  }

  #changed(change: Change): void {
    const { item, before, appended } = change;
    switch (item.kind) {
      case "assistant":
        return this.#answer(item, before as AssistantItem | undefined, appended);
      case "thinking":
        if (this.#options.verbose && appended !== "") this.#screen.note(appended, "dim");
        return;
      case "tools":
        return this.#calls(item, before as ToolsItem | undefined);
      case "approval":
        return item.state === "pending" ? this.#waits(item) : this.#say(approvalNotes(item, this.#options));
      case "plan":
        return this.#say(planNotes(item, before?.kind === "plan" ? before : undefined, this.#options));
      default:
        if (item.kind === "error" || item.kind === "info") this.#tellRun();
        this.#say(itemNotes(item, { ...this.#options, sessionId: this.#sessionId }));
        if (item.kind === "info" && item.topic === "takeover") this.#screen.status("thinking");
        if (item.kind === "info" && item.topic === "queue") this.#screen.status("waiting for its turn");
    }
  }

  #answer(item: AssistantItem, before: AssistantItem | undefined, appended: string): void {
    if (item.isCut && before?.isCut === false) this.#screen.note("The answer was cut on its way; the model is asked again.", "warning");
    if (appended !== "") {
      this.#screen.status("");
      this.#screen.answer(appended);
    }
    if (!item.isOpen) this.#screen.endLine();
  }

  #calls({ calls }: ToolsItem, before: ToolsItem | undefined): void {
    for (const [index, call] of calls.entries()) {
      const last = before?.calls[index];
      if (call === last || (last !== undefined && call.state === last.state && call.queuePosition === last.queuePosition)) continue;
      this.#call(call, last);
    }
  }

  #call(call: ToolCallView, before: ToolCallView | undefined): void {
    const { tool, state, summary, queuePosition } = call;
    if (state === "running") return this.#screen.status(`${tool} ${summary}`);
    if (state === "waiting") return this.#screen.status(`${tool} waits for a sandbox, place ${queuePosition}`);
    if (state === "chosen" || state === "asked") return;
    this.#screen.status("thinking");
    // What was denied is told when it is.
    if (state === before?.state) return;
    this.#say([callNote(call)]);
  }

  #waits(item: ApprovalItem): void {
    const { approvalId, kind } = item.approval;
    const text = WAITS[kind] ?? `${askerName(item)}${printableLine(item.tool)} waits for an approval`;
    if (this.#options.showsQuestions) this.#screen.note(`${text}: hlvm approval show ${approvalId}`, "warning");
    this.#screen.status(text);
  }

  /** What is no item: figures, lists, reminders. */
  #tellBesides(): void {
    const { todo, turnStats, reminder, thinkingSequence } = this.#conversation;
    const { verbose } = this.#options;
    if (todo !== this.#shown.todo) this.#say(todoNotes(todo));
    if (verbose && reminder !== undefined && reminder !== this.#shown.reminder)
      this.#screen.note(`reminder: ${printableLine(reminder.text, 200)}`, "dim");
    if (verbose && turnStats !== undefined && turnStats !== this.#shown.turnStats) this.#say([turnNote(turnStats)]);
    if (thinkingSequence !== this.#shown.thinkingSequence) this.#screen.status("thinking");
    this.#tellRun();
    this.#shown = { ...this.#shown, todo, turnStats, reminder, thinkingSequence };
  }

  #tellRun(): void {
    const { run } = this.#conversation;
    const before: RunState | undefined = this.#shown.run;
    if (run === undefined || run === before) return;
    this.#shown = { ...this.#shown, run };
    if (run.stopReason !== undefined) {
      this.#screen.status("");
      this.#screen.endLine();
      this.#say(runStoppedNotes(run, this.#options.verbose));
    } else if (run.runId !== before?.runId && this.#options.verbose) this.#say([runStartedNote(run)]);
  }

  #say(notes: readonly Piece[]): void {
    for (const { text, tone } of notes) this.#screen.note(text, tone);
  }
}
