const UNIT_MILLISECONDS = { s: 1_000n, m: 60_000n, h: 3_600_000n } as const;
/** Above what anybody has to spend, and far within what the contract holds. */
const DOLLARS = /^\$?(\d{1,9})(?:\.(\d{1,9}))?$/;

/** US dollars (`5`, `0.50`, `$20`) in nano-dollars, exactly; undefined where the text is none. */
export function parseDollars(text: string): bigint | undefined {
  const match = DOLLARS.exec(text);
  return match === null ? undefined : BigInt(match[1]! + (match[2] ?? "").padEnd(9, "0"));
}

/** `90s`, `20m`, `2h` in milliseconds; undefined where the text is none. */
export function parseDuration(text: string): bigint | undefined {
  const match = /^(\d{1,7})([smh])$/.exec(text);
  return match === null ? undefined : BigInt(match[1]!) * UNIT_MILLISECONDS[match[2] as keyof typeof UNIT_MILLISECONDS];
}

/** A whole number (`200000`), also in thousands and millions (`200k`, `2M`); undefined where the text is none. */
export function parseCount(text: string): bigint | undefined {
  const match = /^(\d{1,12})([kM])?$/.exec(text);
  if (match === null) return undefined;
  return BigInt(match[1]!) * (match[2] === "M" ? 1_000_000n : match[2] === "k" ? 1_000n : 1n);
}
