import { AnswerRefused } from "@hlvm/transcripts/labels/answer-fields";
import { readSessionLabels } from "@hlvm/transcripts/labels/read-session-labels";
import { standsIn } from "@hlvm/transcripts/labels/stands-in";
import type { EntityMention, EntityRole } from "../entities/entity.ts";
import { entityOf, findEntities } from "../entities/find-entities.ts";
import { redactSecrets } from "../redact-secrets.ts";
import type { Viewer } from "../viewer.ts";
import { viewerOfClaim, type WorkPorts } from "./claim-work.ts";
import type { ClaimedItem } from "./model-work.ts";
import { placeFound } from "./place-found.ts";
import { readFactAnswer } from "./read-fact-answer.ts";

const CLAIM_ENDED = "The claim ran out, or what it was of has changed or is gone.";

/** A model's answer about one item; it is checked against that item's own text, and stored for it and for nothing else. */
export async function putWork(
  { work, projects }: WorkPorts,
  viewer: Viewer,
  { claimId, model, answerJson }: { readonly claimId: string; readonly model: string; readonly answerJson: string },
): Promise<{ readonly isStored: boolean; readonly refusal: string }> {
  const claim = await work.find(viewer, claimId);
  const put =
    claim &&
    (await work.withClaimed(await viewerOfClaim(projects, viewer, claim), claimId, async (item) => {
      try {
        // Whatever a model repeats, or makes up, a secret is none of it.
        const clean = redactSecrets(answerJson);
        await (item.kind === "session" ? putSession(item, clean, model) : putFact(item, viewer, clean, model));
        await item.finish();
        return { isStored: true, refusal: "" };
      } catch (thrown) {
        if (!(thrown instanceof AnswerRefused)) throw thrown;
        await item.refuse(thrown.message);
        return { isStored: false, refusal: thrown.message };
      }
    }));
  return put ?? { isStored: false, refusal: CLAIM_ENDED };
}

async function putSession(item: ClaimedItem, answerJson: string, model: string): Promise<void> {
  const turns = (await item.turns()).filter(({ speaker }) => speaker === "person" || speaker === "assistant");
  const labels = readSessionLabels(answerJson, turns.map(({ text }) => text).join("\n"));
  await item.putLabels(labels, model);
  for (const { id, text } of turns) await item.putMentions(id, mentionsIn(labels.entities, text, "mention"), model);
}

async function putFact(item: ClaimedItem, viewer: Viewer, answerJson: string, model: string): Promise<void> {
  const placed = await item.fact();
  if (placed === undefined) return;
  const { text } = placed.fact;
  const { subject, predicate, entities } = readFactAnswer(answerJson, text);
  const about = mentionsIn(subject === "" ? [] : [subject], text, "subject");
  await item.putMentions(placed.fact.id, [...about, ...mentionsIn(entities, text, subject === "" ? "mention" : "object")], model);
  await placeFound(item, viewer, placed, { subject, predicate, model });
}

/** Of the kind that a name's form says; otherwise it is a name and no more. */
function mentionsIn(names: readonly string[], text: string, role: EntityRole): EntityMention[] {
  return names.flatMap((name) => {
    if (!standsIn(name, text)) return [];
    const plain = entityOf("name", name);
    const formed = plain && findEntities(`x ${name}`).find(({ key }) => key === plain.key);
    return plain === undefined ? [] : [{ ...(formed ?? plain), role }];
  });
}
