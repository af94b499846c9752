const compiled = new Map<string, RegExp>();

/**
 * Whether a text fits a pattern of the contracts. They are ours and few, mean the same to Node as to RE2, which validation
 * takes otherwise, and need none of its guarantees: nobody sends a pattern.
 */
export function matchesPattern(pattern: string, text: string): boolean {
  let expression = compiled.get(pattern);
  if (expression === undefined) compiled.set(pattern, (expression = new RegExp(pattern, "u")));
  return expression.test(text);
}
