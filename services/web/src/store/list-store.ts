import { useSyncExternalStore } from "react";
import type { Approval } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import type { Session } from "@hlvm/proto/hlvm/session/v1/session_pb";
import type { WatchConnection } from "../watch/watch-connection.ts";

const SESSIONS_SHOWN = 200;

export interface Lists {
  /** Undefined until they have come. */
  readonly sessions: readonly Session[] | undefined;
  readonly hasMoreSessions: boolean;
  readonly approvals: readonly Approval[] | undefined;
}

/** The lists that every place of the page has in view: the count of approvals, and which sessions run. */
export class ListStore {
  readonly #listeners = new Set<() => void>();
  #lists: Lists = { sessions: undefined, hasMoreSessions: false, approvals: undefined };

  constructor(watch: WatchConnection) {
    watch.subscribe("approvals", {
      topic: () => ({ case: "approvals", value: {} }),
      onFrame: (frame) => frame.case === "approvals" && this.#set({ approvals: frame.value.list?.approvals ?? [] }),
    });
    watch.subscribe("sessions", {
      topic: () => ({ case: "sessions", value: { list: { limit: SESSIONS_SHOWN } } }),
      onFrame: (frame) =>
        frame.case === "sessions" &&
        this.#set({ sessions: frame.value.list?.sessions ?? [], hasMoreSessions: (frame.value.list?.nextPageToken ?? "") !== "" }),
    });
  }

  readonly lists = (): Lists => this.#lists;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** What this page has just answered, before the next look tells so. */
  forgetApproval(approvalId: string): void {
    this.#set({ approvals: this.#lists.approvals?.filter((approval) => approval.approvalId !== approvalId) });
  }

  #set(changes: Partial<Lists>): void {
    this.#lists = { ...this.#lists, ...changes };
    for (const listener of this.#listeners) listener();
  }
}

export function useLists(store: ListStore): Lists {
  return useSyncExternalStore(store.subscribe, store.lists);
}
