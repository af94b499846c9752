/** The mesh's name of a tool call: the same action has the same name, whoever folds the log. `place` counts from 1. */
export function callId(runId: string, turn: number, place: number): string {
  return `${runId}.${turn}.${place}`;
}
