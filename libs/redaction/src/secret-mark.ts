const MARK = String.raw`\[(?:secret: )?[\w /-]{1,48}\]`;

/** What a text begins with that was put in the place of a secret: for patterns that must not take it for one. */
export const MARK_SOURCE = MARK;

const WHOLE = new RegExp(`^${MARK}$`);

/**
 * What stands in the place of a secret: `[secret: GitHub token]`.
 * @param id tells one secret from another of its kind: `[secret: GitHub token a1b2]`
 */
export function secretMark(kind: string, id = ""): string {
  return `[secret: ${kind}${id === "" ? "" : ` ${id}`}]`;
}

/** Whether the whole of a text is such a mark. */
export function isSecretMark(text: string): boolean {
  return WHOLE.test(text);
}
