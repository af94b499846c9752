import { createClient, type Client, type Transport } from "@connectrpc/connect";
import { ModelWorkService } from "@hlvm/proto/hlvm/memory/v1/model_work_pb";
import type { ModelWork, WorkItem } from "../../domain/memory-work/model-work.ts";
import type { MeshCaller } from "./mesh-caller.ts";
import { meshError } from "./mesh-error.ts";

const DEADLINE_MILLISECONDS = 30_000;
/** The process may be about to end. */
const RELEASE_DEADLINE_MILLISECONDS = 2_000;

/** What waits in memory for a model, called for one person. */
export class MeshModelWork implements ModelWork {
  readonly #client: Client<typeof ModelWorkService>;
  readonly #caller: MeshCaller;

  constructor(transport: Transport, caller: MeshCaller) {
    this.#client = createClient(ModelWorkService, transport);
    this.#caller = caller;
  }

  async claim(maxCharacters: number, seconds: number, signal: AbortSignal): Promise<WorkItem | undefined> {
    try {
      const { claimId, work } = await this.#client.claimModelWork(
        { maxCharacters, seconds },
        this.#caller.options(DEADLINE_MILLISECONDS, signal),
      );
      if (claimId === "" || work.case === undefined) return undefined;
      return { claimId, kind: work.case, text: work.case === "session" ? work.value.turnsJson : work.value.text };
    } catch (thrown) {
      throw meshError(thrown, signal);
    }
  }

  async put(claimId: string, model: string, answerJson: string, signal: AbortSignal): Promise<boolean> {
    try {
      const put = await this.#client.putModelWork({ claimId, model, answerJson }, this.#caller.options(DEADLINE_MILLISECONDS, signal));
      return put.isStored;
    } catch (thrown) {
      throw meshError(thrown, signal);
    }
  }

  async release(claimId: string): Promise<void> {
    try {
      await this.#client.releaseModelWork({ claimId }, this.#caller.options(RELEASE_DEADLINE_MILLISECONDS));
    } catch (thrown) {
      throw meshError(thrown);
    }
  }
}
