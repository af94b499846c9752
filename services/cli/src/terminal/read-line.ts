import type { DraftRow } from "./screen.ts";
import { LineEditor } from "./line-editor.ts";
import type { TerminalInput } from "./terminal-input.ts";

/**
 * Waits for a text that a person types below a question, or pastes; it has one line, unless they ask for more with Ctrl-J.
 * @returns the text, or undefined when the signal was aborted first
 */
export async function readLine(input: TerminalInput, row: DraftRow, signal: AbortSignal): Promise<string | undefined> {
  await input.quiet(signal);
  if (signal.aborted) return undefined;
  const answered = Promise.withResolvers<string | undefined>();
  const editor = new LineEditor();
  const show = (): void => row.show({ before: editor.before, after: editor.after, placeholder: "", footer: "Enter answers" });
  const onAbort = (): void => answered.resolve(undefined);
  signal.addEventListener("abort", onAbort);
  using _ = input.read({
    key: (key) => {
      if (key.name === "enter") return answered.resolve(editor.text);
      if (editor.press(key) || key.name === "redraw") show();
    },
  });
  show();
  try {
    return await answered.promise;
  } finally {
    signal.removeEventListener("abort", onAbort);
    row.end(editor.text);
  }
}
