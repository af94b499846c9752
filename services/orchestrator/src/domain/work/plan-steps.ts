const MOST_STEPS = 50;
const STEP_LENGTH = 500;
const FENCE = /^\s*(```|~~~)/;
const NUMBERED = /^\d{1,3}[.)]\s+(.+)$/;
const BULLET = /^[-*+]\s+(?:\[[ xX]\]\s+)?(.+)$/;

/** The steps of a plan in Markdown: the entries of its outermost numbered lists, or of its bullet lists where there are none. */
export function planSteps(markdown: string): string[] {
  const lines = withoutCode(markdown.split(/\r?\n/));
  const numbered = entries(lines, NUMBERED);
  return (numbered.length > 0 ? numbered : entries(lines, BULLET)).slice(0, MOST_STEPS);
}

function entries(lines: readonly string[], pattern: RegExp): string[] {
  return lines.flatMap((line) => {
    const text = pattern.exec(line)?.[1]?.replaceAll("**", "").trim() ?? "";
    return text === "" ? [] : [text.slice(0, STEP_LENGTH).toWellFormed()];
  });
}

function withoutCode(lines: readonly string[]): string[] {
  let isCode = false;
  return lines.filter((line) => {
    if (!FENCE.test(line)) return !isCode;
    isCode = !isCode;
    return false;
  });
}
