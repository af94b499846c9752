import type { CommandContext } from "../command.ts";
import { wrongUsage } from "../options/wrong-usage.ts";
import { Interrupts } from "./interrupts.ts";
import { readKey } from "./read-key.ts";
import { TerminalInput } from "./terminal-input.ts";

/**
 * Asks a person whether something that cannot be taken back shall be done.
 * @param shown what they are told first, a line each
 * @returns whether they said yes
 * @throws HlvmError wrong usage, where there is no terminal to ask on
 */
export async function confirm(shown: readonly string[], question: string, { screen }: CommandContext): Promise<boolean> {
  for (const line of shown) screen.note(line);
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw wrongUsage("There is no terminal to ask on whether that is wanted.", "Give --yes where it is.");
  using interrupts = new Interrupts();
  using asked = screen.question();
  const ask = (): void => asked.line([{ text: `${question} [y/n]`, tone: "warning" }]);
  using input = new TerminalInput(process.stdin, { write: screen.control, onControlC: () => interrupts.interrupt(130) });
  const key = await readKey(input, ["y", "n"], interrupts.signal, ask);
  return key === "y";
}
