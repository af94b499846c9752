const PICTURE = /\p{Extended_Pictographic}/u;
const SKIN = /\p{Emoji_Modifier}/u;
const TEXT_STYLE = "\ufe0e";
const EMOJI_STYLE = "\ufe0f";
const NON_JOINER = "\u200c";
const JOINER = "\u200d";
const JOINING_SCRIPT =
  /[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}]/u;

/**
 * What a terminal acts on, or what a person cannot see and another program can read: control characters but newline and
 * tab, format characters (bidirectional marks, zero-width characters, tags), variation selectors, fillers that look like
 * nothing, line separators, lone surrogates, and what Unicode has not assigned or leaves private.
 */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;
/** Blanks that would move what comes behind them out of sight. */
const LONG_BLANK = /[\p{Zs}\t]{8,}/gu;

/**
 * Text from a model or a tool as it may be shown in a terminal: nothing in it moves the cursor, changes a colour, sets the
 * clipboard, or reads differently than it looks. What was hidden becomes visible: ␛ for escape, <U+202E> for a mark.
 */
export function printable(text: string): string {
  return text.replace(/\r\n/g, "\n").replace(HIDDEN, (character, offset: number, whole: string) => {
    if (character === "\n" || character === "\t" || isNeeded(character, offset, whole)) return character;
    return visible(character);
  });
}

/** The same on one line, cut to so many characters; long runs of blanks are counted. */
export function printableLine(text: string, maximumCharacters = 200): string {
  const line = printable(text.trim().replace(/\s*\n\s*/g, " ⏎ "))
    .replace(LONG_BLANK, ({ length }) => `␠ × ${length}`)
    .replaceAll("\t", " ");
  const characters = Array.from(line);
  return characters.length <= maximumCharacters ? line : `${characters.slice(0, maximumCharacters - 1).join("")}…`;
}

function visible(character: string): string {
  const code = character.codePointAt(0)!;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return "␡";
  return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
}

/** Joiners and styles that writing itself needs: within an emoji, and between letters of scripts that join. */
function isNeeded(character: string, offset: number, whole: string): boolean {
  const before = characterBefore(whole, offset);
  if (character === EMOJI_STYLE || character === TEXT_STYLE) return PICTURE.test(before) || /[0-9#*]/.test(before);
  if (character !== JOINER && character !== NON_JOINER) return false;
  const after = String.fromCodePoint(whole.codePointAt(offset + character.length) ?? 0);
  if (character === JOINER && PICTURE.test(after) && (before === EMOJI_STYLE || PICTURE.test(before) || SKIN.test(before))) return true;
  return JOINING_SCRIPT.test(before) && JOINING_SCRIPT.test(after);
}

function characterBefore(text: string, offset: number): string {
  return Array.from(text.slice(Math.max(0, offset - 2), offset)).at(-1) ?? "";
}
