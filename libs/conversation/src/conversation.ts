import type { Event, StopReason, TodoItem, TurnStats } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { Usage } from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { PermissionMode } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import type { Cost } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import { foldEvent } from "./fold-event.ts";
import type { Item } from "./item.ts";

/** The run that the events told of last. */
export interface RunView {
  readonly runId: string;
  readonly model: string;
  readonly mode: PermissionMode;
  readonly workspace: string;
  /** Undefined while it goes on. */
  readonly stopReason: StopReason | undefined;
  readonly usage: Usage | undefined;
  readonly cost: Cost | undefined;
  /** These three are known once it has stopped. */
  readonly turns: number;
  readonly toolCalls: number;
  readonly durationMilliseconds: number;
}

/** One item became another, or a new one came. */
export interface Change {
  readonly item: Item;
  /** Undefined where it is new. */
  readonly before: Item | undefined;
  /** What was added to the end of its text. Nobody has to compare texts, which would copy all of a long one for each piece of it. */
  readonly appended: string;
}

/**
 * A session as a person sees it, and where each thing in it stands. Events are added in order; what they change is replaced, never
 * written into, so that a view can tell by identity what is new. What an event costs does not grow with the conversation.
 */
export class Conversation {
  /** In order. */
  items: Item[] = [];
  run: RunView | undefined;
  /** What is to be done, as the model or a plan has it now. */
  todo: readonly TodoItem[] = [];
  /** Of the last turn that ended. */
  turnStats: TurnStats | undefined;
  /** What the model was reminded of last; replaced with each reminder. */
  reminder: { readonly text: string } | undefined;
  /** The event at which the model began to think last. */
  thinkingSequence = 0n;
  /** The run that an answer was last given in. */
  answeredRunId: string | undefined;
  /** Which model gave the last answer of a run in the place of the run's own; the model is empty where its own did. */
  served = { runId: "", model: "" };
  lastSequence = 0n;
  /** Grows with every event. */
  version = 0;
  readonly #onChange: (change: Change) => void;
  /** In order: those that a later event may change, also where they have been taken. */
  #live: Item[] = [];
  #runId = "";
  #turn = 0;

  /** @param onChange is told of each change as it is made; not of items that are removed */
  constructor(onChange: (change: Change) => void = () => {}) {
    this.#onChange = onChange;
  }

  /** Those that were seen already are left out: streams may overlap. */
  add(events: readonly Event[]): void {
    for (const event of events) {
      if (event.sequence <= this.lastSequence) continue;
      this.lastSequence = event.sequence;
      this.version += 1;
      this.#enterTurn(event);
      foldEvent(this, event);
    }
  }

  push(item: Item): void {
    this.items.push(item);
    if (this.#isLive(item)) this.#live.push(item);
    if (item.kind === "assistant") this.answeredRunId = item.runId;
    this.#onChange({ item, before: undefined, appended: "text" in item ? item.text : "" });
  }

  /**
   * Changes the last item that fits, of those that can still change.
   * @param appended what the change adds to the end of the item's text
   * @returns whether there was one
   */
  change<Kind extends Item["kind"]>(
    kind: Kind,
    fits: (item: Extract<Item, { kind: Kind }>) => boolean,
    changed: (item: Extract<Item, { kind: Kind }>) => Partial<Extract<Item, { kind: Kind }>>,
    appended = "",
  ): boolean {
    const at = this.#live.findLastIndex((item) => item.kind === kind && fits(item as Extract<Item, { kind: Kind }>));
    const before = this.#live[at] as Extract<Item, { kind: Kind }> | undefined;
    if (before === undefined) return false;
    const item = { ...before, ...changed(before) };
    this.#live[at] = item;
    const place = this.items.lastIndexOf(before);
    if (place >= 0) this.items[place] = item;
    this.#onChange({ item, before, appended });
    return true;
  }

  /** Changes every item of a kind that fits, of those that can still change. */
  changeAll<Kind extends Item["kind"]>(
    kind: Kind,
    fits: (item: Extract<Item, { kind: Kind }>) => boolean,
    changed: (item: Extract<Item, { kind: Kind }>) => Partial<Extract<Item, { kind: Kind }>>,
  ): void {
    for (const live of this.#live)
      if (live.kind === kind && fits(live as Extract<Item, { kind: Kind }>))
        this.change(kind, (item) => (item as Item).key === live.key, changed);
  }

  /** What began behind a sequence no longer counts. */
  removeAfter(sequence: bigint): void {
    this.#keep((item) => item.sequence <= sequence);
  }

  remove(key: string): void {
    this.#keep((item) => item.key !== key);
  }

  /**
   * Takes those from the front that stay as they are, so that whoever goes through a long log holds little of it. A plan that was
   * accepted and a worker that runs go with them; their changes are still told.
   */
  takeSettled(): Item[] {
    this.#sweep();
    const mayStand = new Set<Item>(
      this.#live.filter((item) => item.kind === "worker" || (item.kind === "plan" && item.state === "accepted")),
    );
    const waiting = new Set<Item>(this.#live.filter((item) => !mayStand.has(item)));
    const at = this.items.findIndex((item) => waiting.has(item));
    return this.items.splice(0, at < 0 ? this.items.length : at);
  }

  #keep(isKept: (item: Item) => boolean): void {
    this.items = this.items.filter(isKept);
    this.#live = this.#live.filter(isKept);
  }

  #enterTurn({ runId, turn, payload }: Event): void {
    // People's events stand between turns; they have none of their own.
    if (turn === 0 && payload.case !== "runStarted") return;
    if (runId === this.#runId && turn === this.#turn) return;
    this.#runId = runId;
    this.#turn = turn;
    this.#sweep();
  }

  #sweep(): void {
    this.#live = this.#live.filter((item) => this.#isLive(item));
  }

  #isLive(item: Item): boolean {
    const isOfRun = item.runId === this.#runId;
    const isOfTurn = isOfRun && item.turn === this.#turn;
    switch (item.kind) {
      case "user":
        return item.isPending;
      case "approval":
        return item.state === "pending";
      case "plan":
        return isOfRun && item.state !== "rejected";
      case "worker":
        return isOfRun && item.state === "running";
      case "assistant":
      case "thinking":
        return isOfTurn || (isOfRun && item.isOpen);
      case "tools":
        return isOfTurn || (isOfRun && item.calls.some(({ durationMilliseconds }) => durationMilliseconds === undefined));
      default:
        return false;
    }
  }
}
