import type { Screen } from "../terminal/screen.ts";
import type { RunView } from "./run-view.ts";
import { StreamJsonView } from "./stream-json-view.ts";
import { TextView } from "./text-view.ts";

/** A log for somebody who asked to see it: all of it is the answer, so all of it goes to standard output. */
export function logView(flags: { json?: boolean; verbose?: boolean }, screen: Screen): RunView {
  if (flags.json === true) return new StreamJsonView((line) => void process.stdout.write(line));
  return new TextView(screen, { verbose: flags.verbose === true, showsQuestions: true });
}
