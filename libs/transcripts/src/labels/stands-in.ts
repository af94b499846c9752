/** Whether a name stands in a text as whole words, in whatever case. */
export function standsIn(name: string, text: string): boolean {
  const [wanted, all] = [plain(name), plain(text)];
  if (!/[\p{L}\p{N}]/u.test(wanted)) return false;
  for (let at = all.indexOf(wanted); at >= 0; at = all.indexOf(wanted, at + 1)) {
    const behind = at + wanted.length;
    if (!continues(all, at - 1, at) && !continues(all, behind - 1, behind)) return true;
  }
  return false;
}

function plain(text: string): string {
  return text.normalize("NFKC").toLowerCase().replace(/\s+/gu, " ").trim();
}

/** Whether one word goes on over the border between these two places. */
function continues(text: string, left: number, right: number): boolean {
  const inWord = (at: number): boolean => /[\p{L}\p{M}\p{N}]/u.test(text[at] ?? "");
  return inWord(left) && inWord(right);
}
