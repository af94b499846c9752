import type { CommandContext } from "../command.ts";
import { readPipedInput } from "../options/read-piped-input.ts";
import { wrongUsage } from "../options/wrong-usage.ts";
import { Interrupts } from "./interrupts.ts";
import { LineEditor } from "./line-editor.ts";
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
  const typed = hiddenLine(input, interrupts.signal);
  asked.line([{ text: `Paste ${what} and press Enter; it is not shown.`, tone: "warning" }]);
  const line = await typed;
  return line === undefined ? undefined : demand(line.trim(), what);
}

/** The terminal shows nothing from its first step on. */
async function hiddenLine(input: TerminalInput, signal: AbortSignal): Promise<string | undefined> {
  const answered = Promise.withResolvers<string | undefined>();
  const editor = new LineEditor();
  const onAbort = (): void => answered.resolve(undefined);
  signal.addEventListener("abort", onAbort);
  using _ = input.read({ key: (key) => (key.name === "enter" ? answered.resolve(editor.text) : void editor.press(key)) });
  try {
    return await answered.promise;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

function demand(secret: string, what: string): string {
  if (secret !== "") return secret;
  throw wrongUsage(`There is no ${what.replace(/^the /, "")}.`, "Pipe it in, or run this on a terminal, which asks for it.");
}
