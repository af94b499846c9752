import { EventEmitter, once } from "node:events";
import type { Notifications } from "@hlvm/postgres/notifications";
import type { ApprovalWatch } from "../../domain/approval/approval-store.ts";

/** What a change to an approval is announced on, with its id. */
export const APPROVAL_CHANNEL = "approval_changed";
/** A lost notification costs at most this. */
const LONGEST_WAIT_MILLISECONDS = 30_000;
/** No approval has this id. */
const ANY = "any";

/** Tells those who wait for an approval that it changed; after a lost connection all of them look again. */
export class ApprovalNotices {
  readonly #changes = new EventEmitter().setMaxListeners(0);

  constructor(notifications: Notifications) {
    notifications.onPayload((approvalId) => {
      this.#changes.emit(approvalId);
      this.#changes.emit(ANY);
    });
    notifications.onReconnect(() => {
      for (const approvalId of this.#changes.eventNames()) this.#changes.emit(approvalId);
    });
  }

  /** Hears of a change to any approval. */
  watchAll(): ApprovalWatch {
    return this.watch(ANY);
  }

  watch(approvalId: string): ApprovalWatch {
    let changed = Promise.withResolvers<void>();
    const listener = (): void => changed.resolve();
    this.#changes.on(approvalId, listener);
    return {
      change: async (milliseconds, signal) => {
        signal.throwIfAborted();
        const time = AbortSignal.timeout(Math.min(milliseconds, LONGEST_WAIT_MILLISECONDS));
        const ended = AbortSignal.any([signal, time]);
        await Promise.race([changed.promise, once(ended, "abort")]);
        signal.throwIfAborted();
        changed = Promise.withResolvers<void>();
      },
      [Symbol.dispose]: () => {
        this.#changes.off(approvalId, listener);
      },
    };
  }
}
