import { answerObject, answerText, answerTexts, AnswerRefused } from "@hlvm/transcripts/labels/answer-fields";
import { standsIn } from "@hlvm/transcripts/labels/stands-in";

const MOST_CHARACTERS = 80;
const MOST_PREDICATE_WORDS = 5;
const MOST_ENTITIES = 10;

export interface FactAnswer {
  /** Both are empty where the fact is about nothing in particular. */
  readonly subject: string;
  readonly predicate: string;
  readonly entities: readonly string[];
}

/**
 * What a model answered of a fact, as far as the fact bears it out: subject and predicate are words of it, and names that do not stand
 * in it are left out.
 * @throws AnswerRefused
 */
export function readFactAnswer(answerJson: string, text: string): FactAnswer {
  const answer = answerObject(answerJson, ["subject", "predicate", "entities"]);
  const subject = answerText(answer["subject"], "subject", MOST_CHARACTERS);
  const predicate = answerText(answer["predicate"], "predicate", MOST_CHARACTERS);
  const names = answerTexts(answer["entities"], "entities", { items: MOST_ENTITIES, characters: MOST_CHARACTERS });
  const entities = names.filter((name) => standsIn(name, text));
  if (subject === "" || predicate === "") return { subject: "", predicate: "", entities };
  if (!standsIn(subject, text)) throw new AnswerRefused("subject does not stand in the fact.");
  const words = predicate.split(" ");
  if (words.length > MOST_PREDICATE_WORDS) throw new AnswerRefused(`predicate has more than ${MOST_PREDICATE_WORDS} words.`);
  if (!words.every((word) => standsIn(word, text))) throw new AnswerRefused("predicate has words that do not stand in the fact.");
  return { subject, predicate, entities };
}
