import { nativeTools } from "@hlvm/tools/native-tools";

/** The patterns that fit no tool of ours: a slip of the pen in a list of denied tools would deny nothing. */
export function unknownTools(patterns: readonly string[]): string[] {
  return patterns.filter(
    (pattern) => !nativeTools.some(({ name }) => (pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern)),
  );
}
