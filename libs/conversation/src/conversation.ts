import type { TodoItem } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { Cost } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import type { Usage } from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { PermissionMode } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import type { Event, StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { foldEvent } from "./fold-event.ts";
import type { Item } from "./item.ts";

/** The run that the events told of last. */
export interface RunView {
  readonly runId: string;
  readonly model: string;
  readonly mode: PermissionMode;
  /** Undefined while it goes on. */
  readonly stopReason: StopReason | undefined;
  readonly usage: Usage | undefined;
  readonly cost: Cost | undefined;
}

/**
 * A session as a person sees it, and where each thing in it stands. Events are added in order; what they change is replaced, never
 * written into, so that a view can tell by identity what is new.
 */
export class Conversation {
  /** In order. */
  items: Item[] = [];
  run: RunView | undefined;
  /** What is to be done, as the model or a plan has it now. */
  todo: readonly TodoItem[] = [];
  lastSequence = 0n;
  /** Grows with every event. */
  version = 0;

  /** Those that were seen already are left out: streams may overlap. */
  add(events: readonly Event[]): void {
    for (const event of events) {
      if (event.sequence <= this.lastSequence) continue;
      this.lastSequence = event.sequence;
      this.version += 1;
      foldEvent(this, event);
    }
  }

  push(item: Item): void {
    this.items.push(item);
  }

  /** Changes the last item that fits; looks no further than the run of the event. @returns whether there was one */
  change<Kind extends Item["kind"]>(
    kind: Kind,
    fits: (item: Extract<Item, { kind: Kind }>) => boolean,
    changed: (item: Extract<Item, { kind: Kind }>) => Partial<Extract<Item, { kind: Kind }>>,
  ): boolean {
    const at = this.items.findLastIndex((item) => item.kind === kind && fits(item as Extract<Item, { kind: Kind }>));
    const item = this.items[at] as Extract<Item, { kind: Kind }> | undefined;
    if (item === undefined) return false;
    this.items[at] = { ...item, ...changed(item) };
    return true;
  }

  /** What began behind a sequence no longer counts. */
  removeAfter(sequence: bigint): void {
    this.items = this.items.filter((item) => item.sequence <= sequence);
  }

  remove(key: string): void {
    this.items = this.items.filter((item) => item.key !== key);
  }
}
