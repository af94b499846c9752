/** What a spreadsheet takes for the beginning of a formula, full-width forms and what it skips before them included. */
const FORMULA = /^\s*[=+\-@|＝＋－＠]|^[\t\r]/u;
// oxlint-disable-next-line no-control-regex -- these are what is looked for
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/**
 * One record of CSV (RFC 4180). A value that a spreadsheet would calculate has an apostrophe before it, which such programs do not
 * show; what cannot be seen is written as an escape (`\u202e`), so that a record is one line and a terminal is not steered by it.
 */
export function csvLine(values: readonly string[]): string {
  return `${values.map(field).join(",")}\r\n`;
}

function field(value: string): string {
  const guarded = FORMULA.test(value) ? `'${value}` : value;
  const visible = guarded.replace(HIDDEN, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return /[",]|^\s|\s$/.test(visible) ? `"${visible.replaceAll('"', '""')}"` : visible;
}
