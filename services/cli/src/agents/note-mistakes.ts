import type { Screen } from "../terminal/screen.ts";
import { printableLine } from "../terminal/printable.ts";
import type { Mistake } from "./parse-profile.ts";

/** `FILE:LINE: what is wrong`, as compilers say it. */
export function noteMistakes(mistakes: readonly Mistake[], screen: Screen): void {
  for (const { path, line, message, isFatal } of mistakes)
    screen.note(printableLine(`${path}:${line}: ${message}${isFatal ? "; it is left out" : ""}`, 500), isFatal ? "warning" : "dim");
}
