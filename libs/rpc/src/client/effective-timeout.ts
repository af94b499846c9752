const DEFAULT_DEADLINE_MILLISECONDS = 30_000;

/** The deadline of a call, 30 s where it has none of its own. As Connect has it, what is not positive means none. */
export function effectiveTimeout(milliseconds: number | undefined): number | undefined {
  if (milliseconds === undefined) return DEFAULT_DEADLINE_MILLISECONDS;
  return milliseconds > 0 ? milliseconds : undefined;
}
