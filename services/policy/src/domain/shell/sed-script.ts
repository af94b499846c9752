/**
 * What may stand between two delimiters. Where a delimiter stands behind a backslash or between brackets, seds differ about
 * where the expression ends: there is none in it.
 */
const expression = (delimiter: string): string =>
  String.raw`(?:[^\\[\]D]|\\[^D]|\[\^?(?:\[:[a-z]+:\]|[^\\[\]D])+\])`.replaceAll("D", delimiter);
const replacement = (delimiter: string): string => String.raw`(?:[^\\D]|\\[^D])*`.replaceAll("D", delimiter);

const BLANKS = / */y;
const END = / *(?:;|$)/y;
const ADDRESS = new RegExp(String.raw`\d+(?:~\d+)?|\$|/${expression("/")}+/I?`, "y");
const SECOND_ADDRESS = new RegExp(String.raw`,(?:\d+|\$|[+~]\d+|/${expression("/")}+/I?)`, "y");
const NEGATION = / *!?/y;
const COMMANDS = [
  /[pdDPhHgGxnN=]|[qQ]\d*/y,
  ...["/", ",", "\\|", "#", ":", "@", "_", "%"].map(
    (delimiter) => new RegExp(`s${delimiter}${expression(delimiter)}*${delimiter}${replacement(delimiter)}${delimiter}[gpiI0-9]*`, "y"),
  ),
];

/**
 * Whether a script of sed only prints, deletes and substitutes: its other commands write files, read them or run something.
 * Each piece is read once and never taken back.
 */
export function isHarmlessSed(script: string): boolean {
  let at = 0;
  const take = (...patterns: readonly RegExp[]): boolean => {
    for (const pattern of patterns) {
      pattern.lastIndex = at;
      const length = pattern.exec(script)?.[0].length;
      if (length === undefined) continue;
      at += length;
      return true;
    }
    return false;
  };

  do {
    take(BLANKS);
    if (take(ADDRESS)) {
      take(SECOND_ADDRESS);
      take(NEGATION);
      take(BLANKS);
    }
    if (!take(...COMMANDS) || !take(END)) return false;
  } while (script.slice(at).trim() !== "");
  return true;
}
