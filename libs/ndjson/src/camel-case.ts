/** `accept_edits` is `acceptEdits`. */
export function camelCase(word: string): string {
  return word.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
