/** The first of the patterns that names this tool: a whole name, or a beginning followed by `*`. */
export function matchingPattern(patterns: readonly string[], tool: string): string | undefined {
  return patterns.find((pattern) => (pattern.endsWith("*") ? tool.startsWith(pattern.slice(0, -1)) : tool === pattern));
}
