import { answerObject, answerText, answerTexts, AnswerRefused } from "./answer-fields.ts";
import { LABEL_LIMITS, SESSION_STATUSES, type SessionLabels, type SessionStatus } from "./session-labels.ts";
import { standsIn } from "./stands-in.ts";

const FIELDS = ["label", "summary", "status", "decisions", "open_questions", "entities"];

/**
 * What a model answered of a session, as far as it may be believed: names that do not stand in what was said are left out.
 * @param said what was said in the session
 * @throws AnswerRefused
 */
export function readSessionLabels(answerJson: string, said: string): SessionLabels {
  const answer = answerObject(answerJson, FIELDS);
  const { items, item: characters } = LABEL_LIMITS;
  const label = answerText(answer["label"], "label", LABEL_LIMITS.label);
  if (!/[\p{L}\p{N}]/u.test(label)) throw new AnswerRefused("label says nothing.");
  const status = SESSION_STATUSES.find((one) => one === answer["status"]);
  if (status === undefined) throw new AnswerRefused(`status is none of ${SESSION_STATUSES.join(", ")}.`);
  const names = answerTexts(answer["entities"], "entities", { items: LABEL_LIMITS.entities, characters: LABEL_LIMITS.entity });
  return {
    label,
    summary: answerText(answer["summary"], "summary", LABEL_LIMITS.summary),
    status: status satisfies SessionStatus,
    decisions: answerTexts(answer["decisions"], "decisions", { items, characters }),
    openQuestions: answerTexts(answer["open_questions"], "open_questions", { items, characters }),
    entities: names.filter((name) => standsIn(name, said)),
  };
}
