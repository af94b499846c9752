import { linesOf } from "./lines-of.ts";
import type { Tally } from "./read-turn.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

export interface JsonRecord {
  /** The line's number, from 0. */
  readonly number: number;
  readonly value: JsonObject;
}

/** The JSON objects of a file, one a line. A line that holds none is counted and skipped. */
export async function* jsonRecords(file: string, tally: Tally): AsyncGenerator<JsonRecord> {
  for await (const { number, text } of linesOf(file, tally)) {
    if (text.trim() === "") continue;
    tally.read++;
    const value = parsed(text);
    if (value === undefined) tally.notUnderstood++;
    else yield { number, value };
  }
}

/** @returns undefined for what is no JSON object */
export function parsed(text: string): JsonObject | undefined {
  try {
    return objectOf(JSON.parse(text));
  } catch {
    return undefined;
  }
}

export function objectOf(value: unknown): JsonObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function listOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.map(objectOf).filter((one) => one !== undefined) : [];
}
