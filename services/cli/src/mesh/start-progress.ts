import type { Screen } from "../terminal/screen.ts";

const SILENT_MILLISECONDS = 1_000;

/** Shows what a starting mesh does: at once where it is only a status, and as lines when it takes longer than a second. */
export function startProgress(screen: Screen): { readonly line: (text: string) => void; readonly end: () => void } {
  const waiting: string[] = [];
  let silent = true;
  const timer = setTimeout(() => {
    silent = false;
    for (const text of waiting) screen.note(text, "dim");
  }, SILENT_MILLISECONDS).unref();
  screen.status("starting the mesh");
  return {
    line: (text) => {
      screen.status(text);
      if (silent) waiting.push(text);
      else screen.note(text, "dim");
    },
    end: () => {
      clearTimeout(timer);
      screen.status("");
    },
  };
}
