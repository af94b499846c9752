import { InvalidArgumentError, Option } from "commander";
import { parseTime } from "@hlvm/ndjson/parse-time";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** `--json` of every command that lists something. */
export function jsonOption(): Option {
  return new Option("--json", "one JSON object a line");
}

export const sessionId = uuidOf("a session's id; `hlvm session list` shows them");
export const approvalId = uuidOf("an approval's id; `hlvm approval list` shows them");

/** @param what it should be, and where to find it */
export function uuidOf(what: string): (value: string) => string {
  return (value) => {
    if (!UUID.test(value)) throw new InvalidArgumentError(`It is not ${what}.`);
    return value.toLowerCase();
  };
}

export function argumentsHash(value: string): string {
  if (!/^[0-9a-f]{64}$/i.test(value)) throw new InvalidArgumentError("Give the 64 digits that `hlvm approval show ID --json` has.");
  return value.toLowerCase();
}

export function moment(value: string): Date {
  const time = parseTime(value, new Date());
  if (time === undefined) throw new InvalidArgumentError("Give a time such as 30m, 1h, 7d, 2026-11-21 or 2026-11-21T10:00:00Z.");
  return time;
}

export function wholeNumber(minimum: number, maximum: number): (value: string) => number {
  return (value) => {
    const number = Number(value);
    if (!/^\d+$/.test(value) || number < minimum || number > maximum)
      throw new InvalidArgumentError(`Give a whole number from ${minimum} to ${maximum}.`);
    return number;
  };
}

/** Of an option that may be repeated. */
export function collect(value: string, before: readonly string[] | undefined): string[] {
  return [...(before ?? []), value];
}

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A time that is yet to come: `8h`, `7d`, or a date. */
export function later(value: string): Date {
  const [, count = "", unit = ""] = /^(\d{1,5})([mhd])$/.exec(value) ?? [];
  const at = unit === "" ? Date.parse(value) : Date.now() + Number(count) * UNITS[unit]!;
  if (Number.isFinite(at)) return new Date(at);
  throw new InvalidArgumentError("Give how long from now, such as 8h or 7d, or a date such as 2027-01-31.");
}
