import type { ApprovalRendering, RenderedLine } from "./approval-rendering.ts";

/** What a span costs in a message beside its text, generously. */
const BYTES_OF_A_SPAN = 12;

/** As many of the lines as fit into so many bytes of a message; of the one that does not fit, as many of its spans. */
export function limitRendering(lines: readonly RenderedLine[], maximumBytes: number): ApprovalRendering {
  const shown: RenderedLine[] = [];
  let bytes = 0;
  let omittedCharacters = 0;
  for (const line of lines) {
    const kept = line.filter((span) => {
      bytes += BYTES_OF_A_SPAN + Buffer.byteLength(span.text);
      if (bytes <= maximumBytes) return true;
      omittedCharacters += span.text.length;
      return false;
    });
    bytes += BYTES_OF_A_SPAN;
    if (kept.length > 0 || (line.length === 0 && bytes <= maximumBytes)) shown.push(kept);
    else if (line.length === 0) omittedCharacters += 1;
  }
  return { lines: shown, omittedCharacters };
}
