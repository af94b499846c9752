import { canonicalArguments } from "@hlvm/canonical-json/canonical-arguments";
import type { ToolCallPart } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { TurnReplayed_Agreement as Agreement } from "@hlvm/proto/hlvm/session/v1/event_pb";

type Call = Pick<ToolCallPart, "tool" | "argumentsJson">;

/** How far two answers call the same: tools and canonical arguments, in whatever order. */
export function agreementOf(recorded: readonly Call[], proposed: readonly Call[]): Agreement {
  if (isSame(recorded, proposed, ({ tool, argumentsJson }) => JSON.stringify([tool, canonical(argumentsJson)]))) return Agreement.SAME;
  return isSame(recorded, proposed, ({ tool }) => tool) ? Agreement.SAME_TOOLS : Agreement.DIFFERENT;
}

function isSame(recorded: readonly Call[], proposed: readonly Call[], keyOf: (call: Call) => string): boolean {
  return JSON.stringify(recorded.map(keyOf).toSorted()) === JSON.stringify(proposed.map(keyOf).toSorted());
}

/** What has no canonical form is compared as it was written. */
function canonical(argumentsJson: string): string {
  try {
    return canonicalArguments(argumentsJson.trim() === "" ? "{}" : argumentsJson).json;
  } catch {
    return argumentsJson;
  }
}
