/** About what a message takes at most. @param limit from where on it does not matter any more */
export function estimateBytes(value: unknown, limit: number): number {
  if (typeof value === "string") return 3 * value.length;
  if (value instanceof Uint8Array) return value.length;
  if (typeof value !== "object" || value === null) return 10;
  let bytes = 10;
  for (const name in value) {
    bytes += estimateBytes((value as Readonly<Record<string, unknown>>)[name], limit - bytes);
    if (bytes >= limit) break;
  }
  return bytes;
}
