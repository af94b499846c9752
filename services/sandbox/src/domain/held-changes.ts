import { randomUUID } from "node:crypto";
import type { Runner, ToolRun } from "./isolation.ts";
import type { ProtectedChange } from "./protected-change.ts";
import { failedResult, succeeded, type HeldChange, type ToolResult } from "./tool-event.ts";

/** Each may hold some megabytes; whoever is asked answers the latest. */
const MAXIMUM_HELD = 16;

/** Changes of protected paths that were put back and can be made again, once, when a person has allowed it. */
export class HeldChanges {
  readonly #held = new Map<string, readonly ProtectedChange[]>();

  /** @returns what a person is shown and asked about */
  hold(changes: readonly ProtectedChange[]): HeldChange {
    const changeId = randomUUID();
    this.#held.set(changeId, changes);
    if (this.#held.size > MAXIMUM_HELD) this.#held.delete(this.#held.keys().next().value!);
    return describe(changeId, changes);
  }

  /** Makes the changes again that a call of `keep_changes` names and shows. */
  async keep({ callId, argumentsJson }: ToolRun, runner: Runner): Promise<ToolResult> {
    const given = JSON.parse(argumentsJson) as HeldChange;
    const changes = this.#held.get(given.change_id);
    if (changes === undefined) return failedResult("not_found", "There is no such change any more. Make it again.", 0);
    // What was allowed is what was shown, and no change that only has the same name.
    const held = describe(given.change_id, changes);
    if (held.diff !== given.diff || JSON.stringify(held.paths) !== JSON.stringify(given.paths))
      return failedResult("invalid_arguments", "What was allowed is not the change that was put back. Nothing was done.", 0);
    this.#held.delete(given.change_id);
    const failure = await runner.apply(callId, changes);
    if (failure !== "") return failedResult("protected_path", failure, 0);
    const summary = `${changes.length} ${changes.length === 1 ? "change" : "changes"} kept`;
    const content = `${held.paths.join(", ")}: ${summary}.`;
    return succeeded(content, summary);
  }
}

function describe(changeId: string, changes: readonly ProtectedChange[]): HeldChange {
  return { change_id: changeId, paths: changes.map(({ after }) => after.path), diff: changes.map(({ diff }) => diff).join("\n") };
}
