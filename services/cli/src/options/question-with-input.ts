/**
 * A question and what was piped into it: a block of its own behind the question, or the question itself where there is no
 * other. Nothing in the text can end the block: its mark is one that the text does not hold.
 */
export function questionWithInput(question: string, input: string): string {
  if (input.trim() === "") return question;
  if (question.trim() === "") return input;
  let mark = "stdin";
  while (input.includes(`</${mark}>`)) mark += "-";
  return `${question}\n\n<${mark}>\n${input}${input.endsWith("\n") ? "" : "\n"}</${mark}>`;
}
