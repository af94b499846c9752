const HIDDEN = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|\udb40[\udc00-\uddef]/g;

/**
 * One line of JSON. Characters that a terminal acts on or hides are written as escapes, which every reader of JSON takes
 * back: the value is the same, and `hlvm … --json` on a terminal is harmless.
 */
export function jsonLine(value: object): string {
  return `${JSON.stringify(value).replace(HIDDEN, escaped)}\n`;
}

function escaped(text: string): string {
  return Array.from({ length: text.length }, (_, index) => `\\u${text.charCodeAt(index).toString(16).padStart(4, "0")}`).join("");
}
