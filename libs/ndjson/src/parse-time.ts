const UNIT_MILLISECONDS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/**
 * A moment: `90s`, `30m`, `1h`, `7d`, `2w` before now, or ISO 8601 (`2026-11-21`, `2026-11-21T10:00:00Z`, `2026-11-21 10:00`; without a zone, this machine's).
 * @returns undefined where the text is neither
 */
export function parseTime(text: string, now: Date): Date | undefined {
  const ago = /^(\d{1,9})([smhdw])$/.exec(text);
  if (ago !== null) return validDate(now.getTime() - Number(ago[1]) * UNIT_MILLISECONDS[ago[2] as keyof typeof UNIT_MILLISECONDS]);
  const iso = /^(\d{4}-\d{2}-\d{2})([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})?)?$/.exec(text);
  if (iso === null) return undefined;
  return validDate(Date.parse(iso[2] === undefined ? `${text}T00:00` : text.replace(" ", "T")));
}

/** Within the years that protobuf's timestamps hold. */
function validDate(milliseconds: number): Date | undefined {
  const date = new Date(milliseconds);
  return Number.isNaN(date.getTime()) || date.getUTCFullYear() < 1 || date.getUTCFullYear() > 9999 ? undefined : date;
}
