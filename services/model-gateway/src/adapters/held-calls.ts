import type { Delta, Finish, RequestedCall } from "../domain/generation.ts";
import { parseArguments } from "./parse-arguments.ts";

/**
 * Calls whose arguments are not JSON wait for the end of the answer: where it was cut for length the call is a fragment and
 * is dropped; else the model wrote it so, and gets to hear what is wrong with it.
 */
export class HeldCalls {
  readonly #held: RequestedCall[] = [];

  /** A finished call, to be passed on at once unless it has to wait. */
  *add(call: RequestedCall): Generator<Delta> {
    const complete = { ...call, argumentsJson: call.argumentsJson.trim() === "" ? "{}" : call.argumentsJson };
    if (parseArguments(complete.argumentsJson) === undefined) this.#held.push(complete);
    else yield { kind: "tool-call", ...complete };
  }

  *settle(reason: Finish["reason"]): Generator<Delta> {
    if (reason === "length") return;
    for (const call of this.#held) yield { kind: "tool-call", ...call };
  }
}
