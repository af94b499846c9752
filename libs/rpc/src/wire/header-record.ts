import type { HeadersInput } from "./headers-input.ts";

/** Headers with their names in lower case; a name that comes twice has both values, as HTTP joins them. */
export function headerRecord(headers: HeadersInput | undefined): Record<string, string> {
  const record = Object.create(null) as Record<string, string>;
  if (headers === undefined) return record;
  const entries = Array.isArray(headers) || headers instanceof Headers ? headers : Object.entries(headers);
  for (const [given, value] of entries as Iterable<[string, string]>) {
    const name = given.toLowerCase();
    record[name] = name in record ? `${record[name]}, ${value}` : value;
  }
  return record;
}
