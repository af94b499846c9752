import type { TextRange } from "./text-range.ts";

/**
 * Where the commands of a text stand that `;`, `|`, `&` or a line end join. It is good for showing which of them is meant,
 * not for judging. Undefined where that takes an understanding of the shell: substitutions, here-documents, groups, escapes.
 */
export function commandParts(text: string): TextRange[] | undefined {
  const parts: TextRange[] = [];
  let start = 0;
  const end = (at: number, next: number): void => {
    const part = text.slice(start, at);
    const trimmed = part.trim();
    const from = start + part.indexOf(trimmed);
    if (trimmed !== "") parts.push({ start: from, end: from + trimmed.length });
    start = next;
  };
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]!;
    if (character === "'" || character === '"') {
      const closing = text.indexOf(character, at + 1);
      if (closing < 0 || (character === '"' && /[`\\]|\$\(/.test(text.slice(at, closing)))) return undefined;
      at = closing;
    } else if ("`\\()".includes(character) || text.startsWith("<<", at)) return undefined;
    else if (character === "#" && (at === 0 || /[\s;|&]/.test(text[at - 1]!))) {
      const newline = text.indexOf("\n", at);
      const stop = newline < 0 ? text.length : newline;
      end(at, stop + 1);
      at = stop;
    } else if (character === ";" || character === "\n") end(at, at + 1);
    else if ((character === "|" || character === "&") && !isRedirection(text, at)) end(at, at + 1);
  }
  end(text.length, text.length);
  return parts;
}

/** `>|`, `>&`, `<&`, `&>`. */
function isRedirection(text: string, at: number): boolean {
  return text[at - 1] === ">" || text[at - 1] === "<" || (text[at] === "&" && text[at + 1] === ">");
}
