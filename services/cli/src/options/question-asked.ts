import type { CommandContext } from "../command.ts";
import { readPipedInput } from "./read-piped-input.ts";

/** The question, with what is piped into the command. */
export async function questionAsked(
  question: string,
  waitsForInput: boolean,
  signal: AbortSignal,
  { screen }: CommandContext,
): Promise<string> {
  const onSilence = (): void =>
    screen.note(
      waitsForInput
        ? "Waiting for standard input. Ctrl-C cancels."
        : "Nothing came on standard input within 3 s, so nothing of it is asked. End the command with - to wait for it, or with < /dev/null to not wait.",
      "warning",
    );
  return questionWithInput(question, await readPipedInput({ waits: waitsForInput, signal, onSilence }));
}

/**
 * A question and what was piped into it: a block of its own behind the question, or the question itself where there is no
 * other. Nothing in the text can end the block: its mark is one that the text does not hold.
 */
function questionWithInput(question: string, input: string): string {
  if (input.trim() === "") return question;
  if (question.trim() === "") return input;
  let mark = "stdin";
  while (input.includes(`</${mark}>`)) mark += "-";
  return `${question}\n\n<${mark}>\n${input}${input.endsWith("\n") ? "" : "\n"}</${mark}>`;
}
