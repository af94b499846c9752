import { Phase } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { findNativeTool } from "@hlvm/tools/native-tools";

export interface MadeCall {
  readonly tool: string;
  readonly argumentsJson: string;
}

/** Words of commands that tell whether what was changed is right. */
const CHECKS = /\b(tests?|check|lint|build|compile|tsc|vitest|jest|pytest|unittest|mypy|ruff|eslint|oxlint|make|verify|typecheck)\b/;
const CHANGES = /(^|[;&|]\s*)(cp|mv|rm|mkdir|touch|tee|patch|sed -i|git (apply|mv|rm|checkout|commit))\b|>/;

/**
 * What a run is at, told from the calls of one turn: changing counts before checking, and checking before looking. A turn
 * that only keeps its list or asks leaves the phase as it was; a turn without calls is the answer.
 */
export function phaseOf(calls: readonly MadeCall[], before: Phase): Phase {
  if (calls.length === 0) return Phase.COMPLETING;
  const phases = new Set(calls.map(phaseOfCall));
  for (const phase of [Phase.EDITING, Phase.VERIFYING, Phase.RESEARCHING]) if (phases.has(phase)) return phase;
  return before === Phase.UNSPECIFIED ? Phase.RESEARCHING : before;
}

function phaseOfCall({ tool, argumentsJson }: MadeCall): Phase {
  const definition = findNativeTool(tool);
  switch (definition?.category) {
    case "write":
      return Phase.EDITING;
    case "shell":
      if (CHECKS.test(argumentsJson)) return Phase.VERIFYING;
      return CHANGES.test(argumentsJson) ? Phase.EDITING : Phase.RESEARCHING;
    case "git":
      return definition.sideEffects === "read-only" ? Phase.RESEARCHING : Phase.EDITING;
    case "read":
    case "search":
      return Phase.RESEARCHING;
    default:
      return Phase.UNSPECIFIED;
  }
}
