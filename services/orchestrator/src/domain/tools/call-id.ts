/** The mesh's name of a tool call: the same action has the same name, whoever folds the log. `place` counts from 1. */
export function callId(runId: string, turn: number, place: number): string {
  return `${runId}.${turn}.${place}`;
}

/** The turn in the name of a call; 0 where it has none. */
export function turnOfCall(callId: string): number {
  const turn = Number(callId.split(".")[1]);
  return Number.isInteger(turn) && turn > 0 ? turn : 0;
}
