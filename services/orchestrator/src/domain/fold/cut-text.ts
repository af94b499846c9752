/** The beginning of a text, without half a surrogate pair at its end, and a note that says how much is missing; a text within the length as it is. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const kept = text.slice(0, length).replace(/[\uD800-\uDBFF]$/, "");
  return `${kept}\n[Cut after ${kept.length} of ${text.length} characters: it is too long to be sent on.]`;
}
