import { isHidden } from "@hlvm/visible-text/hidden-character";

/** HTML, and what a page would load or a person would follow. */
const MARKUP =
  /<!--|<\/?(?:audio|embed|iframe|img|script|style|svg|video)\b|<(?:a|base|form|input|link|meta|object)\s|!\[[^\]]*\]\(|\]\(\s*[a-z][a-z0-9+.-]*:|javascript:/iu;

/** Why an answer of a model is not taken; its message says what is wrong with it. */
export class AnswerRefused extends Error {}

/** @throws AnswerRefused where it is no object of JSON with these fields and no others */
export function answerObject(json: string, fields: readonly string[]): Readonly<Record<string, unknown>> {
  let answer: unknown;
  try {
    answer = JSON.parse(json);
  } catch {
    throw new AnswerRefused("The answer is not JSON.");
  }
  if (typeof answer !== "object" || answer === null || Array.isArray(answer)) throw new AnswerRefused("The answer is not an object.");
  const missing = fields.find((field) => !Object.hasOwn(answer, field));
  if (missing !== undefined) throw new AnswerRefused(`The answer has no field ${missing}.`);
  if (Object.keys(answer).length > fields.length) throw new AnswerRefused("The answer has fields that nobody asked for.");
  return answer as Record<string, unknown>;
}

/** One line of plain text. @throws AnswerRefused */
export function answerText(value: unknown, field: string, most: number): string {
  if (typeof value !== "string") throw new AnswerRefused(`${field} is not a text.`);
  const line = value.replace(/\s+/gu, " ").trim();
  if (line.length > most) throw new AnswerRefused(`${field} is longer than ${most} characters.`);
  if (Array.from(line).some(isHidden)) throw new AnswerRefused(`${field} has characters that cannot be seen.`);
  if (MARKUP.test(line)) throw new AnswerRefused(`${field} has markup in it.`);
  return line;
}

/** Texts that say something, each once. @throws AnswerRefused */
export function answerTexts(value: unknown, field: string, { items, characters }: { readonly items: number; readonly characters: number }) {
  if (!Array.isArray(value)) throw new AnswerRefused(`${field} is not a list.`);
  if (value.length > items) throw new AnswerRefused(`${field} has more than ${items} items.`);
  return [...new Set(value.map((one) => answerText(one, field, characters)))].filter((text) => text !== "");
}
