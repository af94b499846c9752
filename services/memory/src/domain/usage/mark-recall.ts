import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Fact } from "../fact.ts";
import type { FactPorts } from "../projects.ts";
import type { Viewer } from "../viewer.ts";
import type { LoggedRecall, UsageLog } from "./usage-log.ts";

type Ports = FactPorts & { readonly usage: UsageLog };

/**
 * A recall with the facts that it showed, as they are now. A project's facts are there while the viewer is a member of it.
 * @throws HlvmError `recall_not_found`
 */
export async function recallWith(
  { store, projects, usage }: Ports,
  viewer: Viewer,
  recallId: bigint,
): Promise<{ readonly recall: LoggedRecall; readonly facts: readonly Fact[] }> {
  const recall = await found(usage, viewer, recallId);
  const project = recall.project !== "" && (await projects.isMember(viewer, recall.project)) ? recall.project : "";
  const facts = await store.inScope({ ...viewer, project }, async (scoped) => {
    const shown: Fact[] = [];
    for (const id of recall.shown) {
      const fact = await scoped.find(id);
      if (fact !== undefined) shown.push(fact);
    }
    return shown;
  });
  return { recall, facts };
}

export interface RecallMark {
  readonly recallId: bigint;
  readonly factId: string;
  readonly isWrong: boolean;
}

/** A person says whether a fact belonged where a recall showed it. @throws HlvmError `recall_not_found`, `fact_not_shown` */
export async function markRecall({ usage }: Ports, viewer: Viewer, { recallId, factId, isWrong }: RecallMark): Promise<LoggedRecall> {
  const { shown } = await found(usage, viewer, recallId);
  if (!shown.includes(factId.toLowerCase()))
    throw new HlvmError({
      code: "invalid_argument",
      reason: "fact_not_shown",
      message: `Recall ${recallId} did not show fact ${factId}.`,
      advice: "`hlvm memory recalls show ID` lists what it showed.",
    });
  await usage.mark(viewer, recallId, factId, isWrong);
  return found(usage, viewer, recallId);
}

async function found(usage: UsageLog, viewer: Viewer, recallId: bigint): Promise<LoggedRecall> {
  const recall = await usage.recall(viewer, recallId);
  if (recall !== undefined) return recall;
  throw new HlvmError({
    code: "not_found",
    reason: "recall_not_found",
    message: `There is no recall ${recallId} of yours.`,
    advice: "`hlvm memory recalls` lists them; they are kept for 90 days.",
  });
}
