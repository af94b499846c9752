import type { Candidate } from "./candidate.ts";
import { unmetNeed, type LeftOut, type ModelNeeds } from "./model-needs.ts";
import { scoreModels, type Scored } from "./score-model.ts";
import { weighTask, type WeighedTask } from "./weigh-task.ts";

export interface Choice {
  /** The best first. */
  readonly ranked: readonly Scored[];
  readonly leftOut: readonly LeftOut[];
  readonly words: WeighedTask["words"];
}

/**
 * Which of the candidates fits a task best: those that lack what is needed are left out, the others are scored. Of two with the same
 * score the one that stands first in the catalogue comes first; a stand-in comes after all others.
 */
export function chooseModel(candidates: readonly Candidate[], task: string, needs: ModelNeeds): Choice {
  const { weights, words } = weighTask(task);
  const leftOut = candidates.flatMap((candidate) => unmetNeed(candidate, needs) ?? []);
  const left = candidates.filter((candidate) => unmetNeed(candidate, needs) === undefined);
  const ranked = scoreModels(left, weights).toSorted(
    (one, other) => Number(one.candidate.isStandIn) - Number(other.candidate.isStandIn) || other.score - one.score,
  );
  return { ranked, leftOut, words };
}
