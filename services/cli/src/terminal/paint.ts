import { STAND_IN_BRACKETS } from "@hlvm/visible-text/hidden-character";
import { printable } from "./printable.ts";

/** How a stretch of text is meant; `escaped` is a stand-in for what cannot be seen, `marked` what a person has to look at. */
export type Tone = "plain" | "dim" | "good" | "warning" | "bad" | "label" | "escaped" | "marked";

export interface Piece {
  readonly text: string;
  readonly tone: Tone;
}

const TONES: Readonly<Record<Tone, string>> = {
  plain: "",
  dim: "\u001b[2m",
  good: "\u001b[32m",
  warning: "\u001b[33m",
  bad: "\u001b[31m",
  label: "\u001b[1m",
  escaped: "\u001b[7m",
  marked: "\u001b[1;31m",
};
const RESET = "\u001b[0m";
const BRACKETS: Partial<Record<Tone, readonly [string, string]>> = { escaped: STAND_IN_BRACKETS, marked: [">>>", "<<<"] };

/** Text for a terminal; whatever is in the pieces, it moves no cursor and changes no colour but as their tones say. */
export function paint(pieces: readonly Piece[], colour: boolean): string {
  return pieces
    .map(({ text, tone }) => (colour && tone !== "plain" ? `${TONES[tone]}${printable(text)}${RESET}` : printable(text)))
    .join("");
}

/** Brackets around what only a colour would tell apart, for where there is none. */
export function inBrackets(pieces: readonly Piece[]): Piece[] {
  return pieces.map(({ text, tone }) => {
    const [opening, closing] = BRACKETS[tone] ?? ["", ""];
    return { text: `${opening}${text}${closing}`, tone };
  });
}
