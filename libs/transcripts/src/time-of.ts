/** Below this a number counts seconds: as milliseconds it would be before 1973. */
const SECONDS_BELOW = 1e11;

/** A time as tools write it: ISO text, seconds or milliseconds. @returns undefined for anything else */
export function timeOf(value: unknown): Date | undefined {
  const number = typeof value === "string" && /^\d{9,16}(\.\d+)?$/.test(value) ? Number(value) : value;
  const date = typeof number === "number" ? new Date(number < SECONDS_BELOW ? number * 1_000 : number) : dateOfText(number);
  // What JSON and a database can hold, and a person could have meant.
  return date !== undefined && date.getTime() > 0 && date.getUTCFullYear() < 3_000 ? date : undefined;
}

function dateOfText(value: unknown): Date | undefined {
  return typeof value === "string" && /^\d{4}-\d\d-\d\d/.test(value) ? new Date(value) : undefined;
}
