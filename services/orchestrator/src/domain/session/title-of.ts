const LENGTH = 80;

/** A session's title: its first prompt, cut to a line. */
export function titleOf(prompt: string): string {
  const line = prompt.replace(/[\s\p{Cc}]+/gu, " ").trim();
  const characters = [...line];
  return characters.length <= LENGTH ? line : `${characters.slice(0, LENGTH - 1).join("")}…`;
}
