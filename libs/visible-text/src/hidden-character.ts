/** Both only as themselves: where there is no colour, a client puts stand-ins between these brackets. */
export const STAND_IN_BRACKETS = ["⟦", "⟧"] as const;

/**
 * Control characters, format characters (bidirectional marks, zero-width characters, tags), lone surrogates, what is
 * private or not assigned, line separators, whatever Unicode says is not shown, blanks other than the ordinary one, signs
 * that are drawn as a blank (braille, a musical note head), and the brackets of stand-ins.
 */
const HIDDEN = /^(?! )[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Zs}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}\u27e6\u27e7]$/u;

/** Whether a person cannot see this one character, or cannot tell it from another. */
export function isHidden(character: string): boolean {
  return HIDDEN.test(character);
}

/** `␛` for a control character, `␠` for a space, `U+202E` for every other one. */
export function standIn(character: string): string {
  const code = character.codePointAt(0)!;
  if (code <= 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return "␡";
  return `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}
