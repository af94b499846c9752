import type { CommandContext } from "../command.ts";
import { wrongUsage } from "../options/wrong-usage.ts";
import { Interrupts } from "./interrupts.ts";
import { readKey } from "./read-key.ts";

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
  const key = await readKey(process.stdin, ["y", "n"], interrupts.signal, ask, () => interrupts.interrupt(130));
  return key === "y";
}
