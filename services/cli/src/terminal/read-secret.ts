import type { CommandContext } from "../command.ts";
import { readPipedInput } from "../options/read-piped-input.ts";
import { wrongUsage } from "../options/wrong-usage.ts";
import { Interrupts } from "./interrupts.ts";
import { readLine } from "./read-line.ts";
import { TerminalInput } from "./terminal-input.ts";

/**
 * A secret from standard input, or from a person who types or pastes it and does not see it: on a command line others would.
 * @param what it is, for the question
 * @returns it without the blanks around it; undefined where the person left with Ctrl-C
 * @throws HlvmError wrong usage, where there is none
 */
export async function readSecret(what: string, { screen }: CommandContext): Promise<string | undefined> {
  using interrupts = new Interrupts();
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    const onSilence = (): void => screen.note(`Waiting for ${what} on standard input.`);
    return demand((await readPipedInput({ waits: true, signal: interrupts.signal, onSilence })).trim(), what);
  }
  using asked = screen.question();
  using input = new TerminalInput(process.stdin, { write: screen.control, onControlC: () => interrupts.interrupt(130) });
  asked.line([{ text: `Paste ${what} and press Enter; it is not shown.`, tone: "warning" }]);
  const line = await readLine(input, { show: () => undefined, end: () => undefined }, interrupts.signal);
  return line === undefined ? undefined : demand(line.trim(), what);
}

function demand(secret: string, what: string): string {
  if (secret !== "") return secret;
  throw wrongUsage(`There is no ${what.replace(/^the /, "")}.`, "Pipe it in, or run this on a terminal, which asks for it.");
}
