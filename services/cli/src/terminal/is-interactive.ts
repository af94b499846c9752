import { inForeground } from "./in-foreground.ts";

/**
 * Whether a person may type here while something is shown: all of these are a terminal, which understands cursor movements, and
 * its keys come to us. Where standard output goes elsewhere, a pager may have it that reads the keys itself.
 * @param terminal as TERM names it
 */
export function isInteractive(streams: readonly { isTTY?: boolean }[], terminal: string): boolean {
  return streams.every(({ isTTY }) => isTTY === true) && terminal !== "" && terminal !== "dumb" && inForeground();
}
