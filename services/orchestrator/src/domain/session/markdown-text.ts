const LINE_CHARACTERS = 200;
/** What a terminal or a page acts on, or hides: escapes, marks that turn the direction, characters without width. */
const HIDDEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const MARKUP = /[\\`*_{}[\]()<>#+\-.!|~&:@]/g;

/** A block that shows a text as it is, with what hides in it made visible; nothing in the text ends it. */
export function fenced(text: string, language = "text"): string {
  const shown = visible(text).replace(/\r\n?/g, "\n");
  const longest = Math.max(2, ...(shown.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${shown}${shown.endsWith("\n") ? "" : "\n"}${fence}\n`;
}

/** A text within a line: cut, and nothing in it is markup. */
export function inline(text: string): string {
  const line = Array.from(visible(text.replace(/\s+/g, " ").trim()));
  const cut = line.length > LINE_CHARACTERS ? `${line.slice(0, LINE_CHARACTERS - 1).join("")}…` : line.join("");
  return cut.replace(MARKUP, "\\$&");
}

function visible(text: string): string {
  return text.replace(HIDDEN, (character) =>
    character === "\r" ? character : `<U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}>`,
  );
}
