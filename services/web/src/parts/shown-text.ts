import { isHidden, standIn } from "@hlvm/visible-text/hidden-character";

/** These turn the direction of what stands around them, so that a text reads as another one. */
const TURNING = /[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/g;

/** Code, commands and output: every character that a person cannot see is shown as what it is; tabs and line ends stay. */
export function shownCode(text: string): string {
  return Array.from(text, (character) => (/[\n\t ]/.test(character) || !isHidden(character) ? character : `⟦${standIn(character)}⟧`)).join(
    "",
  );
}

/** Prose: joiners and unusual blanks belong to words and signs; what turns the direction is shown. */
export function shownProse(text: string): string {
  return text.replace(TURNING, (character) => `⟦${standIn(character)}⟧`);
}
