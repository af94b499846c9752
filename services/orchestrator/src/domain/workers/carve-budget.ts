import { create } from "@bufbuild/protobuf";
import { WorkerBudgetSchema, type WorkerBudget } from "@hlvm/proto/hlvm/session/v1/event_pb";

/** What a run has left to give away. */
export interface BudgetRest {
  readonly turns: number;
  readonly milliseconds: number;
}

/** Of the turns that are left: the parent keeps the others, to read what its workers found and to answer. */
const TURNS_SHARE = 0.75;
/** Of the time that is left. Workers run at the same time, so each may have all of it. */
const TIME_SHARE = 0.9;

/**
 * The one place where what a worker may use up is taken from its parent's rest: turns and time here, every further kind of
 * budget beside them. What a worker does not use stays its parent's.
 * @param asked what the model wants it to have; it gets no more than its share
 * @param workers among which the rest is shared
 * @returns undefined where there is too little left for a worker
 */
export function carveBudget(
  rest: BudgetRest,
  asked: { readonly turns?: number; readonly seconds?: number },
  workers: number,
): WorkerBudget | undefined {
  const shareOfTurns = Math.floor((Math.max(0, rest.turns) * TURNS_SHARE) / Math.max(1, workers));
  const shareOfTime = Math.floor(Math.max(0, rest.milliseconds) * TIME_SHARE);
  const turns = Math.min(asked.turns ?? shareOfTurns, shareOfTurns);
  const milliseconds = Math.min((asked.seconds ?? Number.POSITIVE_INFINITY) * 1_000, shareOfTime);
  return turns < 1 || milliseconds < 1_000 ? undefined : create(WorkerBudgetSchema, { turns, milliseconds });
}
